/** What the embedded S3 keeps of an object. */
interface Store {
  existsObject(bucket: string, key: string): Promise<boolean>;
  getMetadata(bucket: string, key: string): Promise<{ etag: string }>;
}

export interface S3Request {
  method: string;
  path: string;
  status: number;
  type: string;
  body: unknown;
  store: Store;
  get(header: string): string;
}

/**
 * The embedded S3 knows no conditions on reads and writes, and lets two writes of one object mix. This goes
 * before it: `If-Match` on a read, `x-amz-copy-source-if-match` and `If-None-Match: *` on a write are answered
 * as S3 answers them, and whoever touches an object waits for the write before.
 */
export function s3Conditions() {
  const turns = new Map<string, Promise<void>>();
  return async (request: S3Request, next: () => Promise<void>): Promise<void> => {
    const target = decodeURIComponent(request.path);
    const source = decodeURIComponent(request.get('x-amz-copy-source'));
    const proceed = async () => {
      const holds =
        (await hasTag(request, target, request.get('if-match'))) &&
        (await hasTag(request, source, request.get('x-amz-copy-source-if-match'))) &&
        (request.method !== 'PUT' ||
          request.get('if-none-match') !== '*' ||
          !(await exists(request.store, target)));
      if (holds) await next();
      else refuse(request);
    };
    const paths = [target, source].map((path) => path.replace(/^\//, ''));
    const turn = Promise.all(paths.map((path) => turns.get(path))).then(proceed);
    if (request.method !== 'PUT') return turn;
    const settled = turn.catch(() => {});
    for (const path of paths) turns.set(path, settled);
    await turn;
    for (const path of paths) if (turns.get(path) === settled) turns.delete(path);
  };
}

async function hasTag({ store }: S3Request, path: string, wanted: string): Promise<boolean> {
  if (wanted === '' || !(await exists(store, path))) return true;
  const { etag } = await store.getMetadata(...split(path));
  return etag === wanted;
}

function exists(store: Store, path: string): Promise<boolean> {
  return store.existsObject(...split(path));
}

function split(path: string): [bucket: string, key: string] {
  const [bucket = '', ...key] = path.replace(/^\//, '').split('/');
  return [bucket, key.join('/')];
}

function refuse(request: S3Request): void {
  request.status = 412;
  request.type = 'application/xml';
  request.body =
    '<Error><Code>PreconditionFailed</Code><Message>A condition of the request does not hold.</Message></Error>';
}
