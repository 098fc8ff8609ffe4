import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Failure } from './failure.ts';
import { reasonOf } from './new-file.ts';
import { type Issuer, refreshed, type Tokens } from './sign-in.ts';

/* Who is signed in at which registry: one file for each, which only its owner can read. */

export interface Session {
  baseUrl: string;
  issuer: Issuer;
  tokens: Tokens;
}

/** Refreshed this long before its end, so that a token outlives the call that it is read for. */
const earlyMs = 60_000;

function folder(environment: NodeJS.ProcessEnv): string {
  const { XDG_CONFIG_HOME, APPDATA } = environment;
  return join(XDG_CONFIG_HOME || APPDATA || join(homedir(), '.config'), 'publish-node');
}

function fileOf(baseUrl: string, environment: NodeJS.ProcessEnv): string {
  const name = createHash('sha256').update(baseUrl).digest('hex').slice(0, 16);
  return join(folder(environment), `${name}.json`);
}

/** Undefined if nobody is signed in at this registry, or the file is damaged. */
export function readSession(baseUrl: string, environment: NodeJS.ProcessEnv): Session | undefined {
  try {
    const session: Session = JSON.parse(readFileSync(fileOf(baseUrl, environment), 'utf8'));
    const isWhole = session.baseUrl === baseUrl && session.issuer.tokenUrl && session.tokens.accessToken;
    return isWhole ? session : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all: another command may read it meanwhile. */
export function writeSession(session: Session, environment: NodeJS.ProcessEnv): string {
  const file = fileOf(session.baseUrl, environment);
  const draft = `${file}.${randomUUID()}`;
  try {
    mkdirSync(folder(environment), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(session, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    chmodSync(draft, 0o600);
    renameSync(draft, file);
  } catch (cause) {
    const sentence = `The session cannot be kept in ${folder(environment)}: ${reasonOf(cause)}.`;
    throw new Failure('usage', `${sentence} Name another folder: XDG_CONFIG_HOME.`, { cause });
  }
  return file;
}

export function removeSession(baseUrl: string, environment: NodeJS.ProcessEnv): void {
  rmSync(fileOf(baseUrl, environment), { force: true });
}

/** The access token of the session for each call, renewed when it ends. Undefined without a session. */
export function sessionToken(
  baseUrl: string,
  environment: NodeJS.ProcessEnv,
): (() => Promise<string>) | undefined {
  if (!readSession(baseUrl, environment)) return undefined;
  return async () => {
    const session = readSession(baseUrl, environment);
    if (!session) return '';
    const { tokens, issuer } = session;
    const { accessToken, expiresAt, refreshToken } = tokens;
    const isOver = expiresAt !== undefined && Date.parse(expiresAt) < Date.now() + earlyMs;
    if (!isOver || refreshToken === undefined) return accessToken;
    const renewed = await refreshed(issuer, refreshToken);
    // Another command may have used the refresh token first; what it wrote counts.
    if (renewed === undefined) return readSession(baseUrl, environment)?.tokens.accessToken ?? accessToken;
    writeSession({ ...session, tokens: { refreshToken, ...renewed } }, environment);
    return renewed.accessToken;
  };
}
