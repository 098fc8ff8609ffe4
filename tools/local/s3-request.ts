/** The object store of the embedded S3. */
export interface Store {
  existsObject(bucket: string, key: string): Promise<boolean>;
  getMetadata(bucket: string, key: string): Promise<{ etag: string }>;
  getObject(bucket: string, key: string, options: object): Promise<object | null>;
  putObject(object: { bucket: string; key: string }): Promise<{ size: number; md5: string }>;
  copyObject(
    sourceBucket: string,
    sourceKey: string,
    bucket: string,
    key: string,
    metadata?: object,
  ): Promise<object>;
  deleteObject(bucket: string, key: string): Promise<void>;
  getResourcePath(bucket: string, key: string, resource: string): string;
}

/** A request on its way through the embedded S3. Each part sees what the parts before it have set. */
export interface S3Request {
  method: string;
  path: string;
  query: Record<string, string | undefined>;
  headers: Record<string, string | undefined>;
  status: number;
  type: string;
  body: unknown;
  store: Store;
  get(header: string): string;
  set(header: string, value: string): void;
}

export type Next = () => Promise<void>;

/** One object, or one version of it. */
export interface Place {
  bucket: string;
  key: string;
  versionId: string | undefined;
}

export function targetOf({ path, query }: S3Request): Place {
  return { ...split(decodeURIComponent(path)), versionId: query.versionId };
}

export function sourceOf(request: S3Request): Place | undefined {
  const [path = '', query = ''] = request.get('x-amz-copy-source').split('?');
  if (path === '') return undefined;
  const versionId = new URLSearchParams(query).get('versionId') ?? undefined;
  return { ...split(decodeURIComponent(path)), versionId };
}

function split(path: string): Pick<Place, 'bucket' | 'key'> {
  const [bucket = '', ...key] = path.replace(/^\//, '').split('/');
  return { bucket, key: key.join('/') };
}

/** An error that S3 answers. */
export class S3Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export async function answerRefusals(request: S3Request, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof S3Refusal)) throw error;
    request.status = error.status;
    request.type = 'application/xml';
    request.body = `<Error><Code>${error.code}</Code><Message>${error.message}</Message></Error>`;
  }
}
