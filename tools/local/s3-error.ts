export class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function accessDenied(message: string): S3Error {
  return new S3Error(403, 'AccessDenied', message);
}

export function noSuchKey(): S3Error {
  return new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');
}

export function preconditionFailed(): S3Error {
  return new S3Error(412, 'PreconditionFailed', 'A condition of the request does not hold.');
}
