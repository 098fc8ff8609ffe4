import { createPrivateKey, generateKeyPairSync, hash, type JsonWebKey, randomUUID, sign } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { HttpServer, Serve } from '../processes/http-server.ts';
import { audience, ciIssuerName, issuerName, localAddress, localEnvironment, ports } from './addresses.ts';
import developmentKey from './development-key.json' with { type: 'json' };
import { rejectForeign, startLocalServer } from './local-only.ts';
import { createSignIn } from './sign-in.ts';

export interface SigningKey {
  kid: string;
  privateKey: JsonWebKey;
}

interface TokenOptions {
  user: string;
  admin?: boolean;
  name?: string;
  /** Counts as verified. */
  email?: string;
  expiresInSeconds?: number;
}

const defaultLifetimeSeconds = 12 * 60 * 60;

export function createSigningKey(kid: string = randomUUID()): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, privateKey: privateKey.export({ format: 'jwk' }) };
}

/** The local issuer's own key, created at the first start and kept with the other local data. */
export async function loadSigningKey(directory: string): Promise<SigningKey> {
  const file = join(directory, 'issuer-key.json');
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) return JSON.parse(kept);
  const key = createSigningKey();
  await mkdir(directory, { recursive: true });
  await writeFile(file, JSON.stringify(key), { mode: 0o600 });
  return key;
}

export function publicKeyOf({ kid, privateKey }: SigningKey): JsonWebKey & { kid: string } {
  const { d: _, ...publicKey } = privateKey;
  return { ...publicKey, kid, alg: 'ES256', use: 'sig' };
}

export function issueToken(
  key: SigningKey,
  { user, admin, name, email, expiresInSeconds = defaultLifetimeSeconds }: TokenOptions,
): string {
  const now = Math.floor(Date.now() / 1000);
  return signClaims(key, {
    iss: issuerName,
    aud: audience,
    sub: user,
    iat: now,
    exp: now + expiresInSeconds,
    ...(admin && { role: 'admin' }),
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email, email_verified: true }),
  });
}

interface CiJob {
  repository: string;
  workflow: string;
  ref?: string;
}

const ciLifetimeSeconds = 10 * 60;

/** An ID token as GitHub Actions issues it to a job of a tag. */
export function issueCiToken(key: SigningKey, job: CiJob): string {
  const now = Math.floor(Date.now() / 1000);
  return signClaims(key, {
    iss: ciIssuerName,
    aud: localEnvironment.CI_AUDIENCE,
    jti: randomUUID(),
    iat: now,
    nbf: now,
    exp: now + ciLifetimeSeconds,
    run_id: String(now),
    ...gitHubJob(job),
  });
}

/** GitHub's claims about a job. A repository has the same IDs each time. */
export function gitHubJob({ repository, workflow, ref = 'refs/tags/v1.0.0' }: CiJob) {
  const [owner = ''] = repository.split('/');
  const workflow_ref = `${repository}/.github/workflows/${workflow}@${ref}`;
  return {
    sub: `repo:${repository}:ref:${ref}`,
    repository,
    repository_id: String(crc32(repository)),
    repository_owner: owner,
    repository_owner_id: String(crc32(owner)),
    workflow_ref,
    job_workflow_ref: workflow_ref,
    ref,
    sha: hash('sha1', `${repository}${ref}`),
    run_attempt: '1',
    event_name: 'push',
  };
}

export function signClaims({ kid, privateKey }: SigningKey, claims: object): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const input = `${encode({ alg: 'ES256', typ: 'JWT', kid })}.${encode(claims)}`;
  const key = createPrivateKey({ key: privateKey, format: 'jwk' });
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

/** The path where programs of this machine, such as `npm run token`, read the signing key. */
const signingKeyPath = '/signing-key';

/** Serves the sign-in, the key set (the local key, and that of the tokens in `events/`) and the local key itself. */
export function startIssuer(port: number, key: SigningKey): Promise<HttpServer> {
  const contents: Record<string, object> = {
    '/.well-known/jwks.json': { keys: [publicKeyOf(key), developmentKey] },
    [signingKeyPath]: key,
  };
  const signIn = createSignIn((person, expiresInSeconds) => issueToken(key, { ...person, expiresInSeconds }));
  const serve: Serve = async (request, response) => {
    if (await signIn(request, response)) return;
    // For programs alone.
    const foreign = rejectForeign(request);
    const content = foreign === undefined ? contents[String(request.url)] : undefined;
    response.writeHead(foreign ?? (content ? 200 : 404), { 'content-type': 'application/json' });
    response.end(JSON.stringify(content ?? {}));
  };
  // No page of a publisher: it could sign a person in as somebody else.
  const pages = [ports.issuer, ports.pages, ports.account].map((each) => new URL(localAddress(each)).origin);
  return startLocalServer(port, serve, ({ origin }) => pages.includes(origin));
}

/** The key of the stack that runs with this port offset; undefined if there is none. */
export async function fetchSigningKey(): Promise<SigningKey | undefined> {
  return fetch(`${localAddress(ports.issuer)}${signingKeyPath}`).then(
    (response) => response.json() as Promise<SigningKey>,
    () => undefined,
  );
}
