import { RegistryError } from '@node-registry/registry-client';
import { ProxyFault } from './proxy.ts';

/** The exit codes of the command, for CI scripts. */
export const exitCodes = {
  done: 0,
  usage: 2,
  rejected: 3,
  archiveRejected: 4,
  tryAgain: 5,
  internal: 70,
  interrupted: 130,
} as const;

type Kind = Exclude<keyof typeof exitCodes, 'done' | 'internal'>;

/** One problem at one place: a file of the folder, or a field of the request. */
export interface Problem {
  path: string;
  message: string;
}

interface Facts extends ErrorOptions {
  code?: string;
  /** The field, option or file of the message, if no problem names it. */
  about?: string;
  problems?: readonly Problem[];
  requestId?: string | undefined;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: string;
  readonly exitCode: number;
  readonly problems: readonly Problem[];
  readonly requestId: string | undefined;
  readonly about: string | undefined;
  readonly parts: readonly Failure[];

  constructor(kind: Kind, sentence: string, facts: Facts = {}, parts: readonly Failure[] = []) {
    super(sentence, { cause: facts.cause });
    this.code = facts.code ?? kind;
    this.exitCode = exitCodes[kind];
    this.problems = facts.problems ?? [];
    this.requestId = facts.requestId;
    this.about = facts.about;
    this.parts = parts;
  }
}

/** One failure for all problems, if there are any. */
export function rejection(sentence: string, problems: readonly Problem[]): Failure[] {
  return problems.length > 0 ? [new Failure('usage', sentence, { problems })] : [];
}

/** Throws all failures together, so that a person can fix them in one go. */
export function throwAll(failures: readonly Failure[]): void {
  const [first, ...others] = failures.flatMap((failure) =>
    failure.parts.length > 0 ? failure.parts : [failure],
  );
  if (!first) return;
  if (others.length === 0) throw first;
  const parts = [first, ...others];
  const problems = parts.flatMap(({ problems: own, about = '.', message }) =>
    own.length > 0 ? own : [{ path: about, message }],
  );
  const sentence = parts.map(({ message }) => message).join(' ');
  throw new Failure('usage', sentence, { problems }, parts);
}

export const diskFull = 'The disk is full.';

export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(Object(error).code);
}

const replaced = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP'];

/** An error of the registry or of a file, as an exit of the command. Any other is a bug, and is unchanged. */
export function foreseen(error: unknown): unknown {
  if (error instanceof RegistryError) return failureOf(error);
  const { code = '', syscall, path }: NodeJS.ErrnoException = Object(error);
  if (isDiskFull(error)) return new Failure('usage', diskFull, { cause: error });
  if (error instanceof Failure || syscall === undefined || path === undefined) return error;
  const why = replaced.includes(code)
    ? 'has changed while it was read. Run it again'
    : `cannot be read: ${code}`;
  return new Failure('usage', `${path} ${why}.`, { about: path, cause: error });
}

/** The results of all steps, or all of their failures. */
export async function together<Steps extends readonly Promise<unknown>[]>(...steps: Steps) {
  const failures: Failure[] = [];
  for (const ending of await Promise.allSettled(steps)) {
    if (ending.status === 'fulfilled') continue;
    const failure = foreseen(ending.reason);
    if (!(failure instanceof Failure)) throw failure;
    failures.push(failure);
  }
  throwAll(failures);
  return Promise.all(steps);
}

const wrongAddress = ['route_not_found', 'method_not_allowed', 'redirected'];
const temporary = ['unreachable', 'timed_out', 'upload_failed', 'still_checking', 'invalid_reply'];

/** By error code: where the caller's tokens came from, how to give one, or what else to do. */
export type Hints = Partial<Record<string, string>>;

export function failureOf(error: RegistryError, hints: Hints = {}, more = ''): Failure {
  const { code, status = 0, details: problems, requestId, sentence: message } = error;
  const hint = [more, hints[code] ?? ''].map((each) => each && ` ${each}`).join('');
  const facts = { code, problems, requestId, cause: error };
  const proxyFault = proxyFaultIn(error);
  if (proxyFault) return new Failure('tryAgain', proxyFault.message, facts);
  if (code === 'archive_rejected') return new Failure('archiveRejected', message, facts);
  const address = hints.unreachable ?? '--base-url, or NODE_REGISTRY_URL';
  const named = `${message} Name another: ${address}.`;
  const again = `${message} Run it again, or name another: ${address}.`;
  if (code === 'unreachable') return new Failure('tryAgain', again, facts);
  if (wrongAddress.includes(code) || (code === 'invalid_reply' && (status === 404 || status === 405))) {
    return new Failure('usage', named, facts);
  }
  const isTemporary = temporary.includes(code) || status >= 500 || status === 429;
  if (isTemporary) return new Failure('tryAgain', `${message}${whenAgain(error)}`, facts);
  return new Failure('rejected', `The registry rejected the request: ${message}${hint}`, facts);
}

function proxyFaultIn(error: Error): ProxyFault | undefined {
  if (error instanceof ProxyFault) return error;
  return error.cause instanceof Error ? proxyFaultIn(error.cause) : undefined;
}

/** For a request's `catch`. */
export function explain(hints: Hints, more = ''): (error: unknown) => never {
  return (error) => {
    throw error instanceof RegistryError ? failureOf(error, hints, more) : error;
  };
}

/** A person doesn't see the header that the sentence may name. */
function whenAgain({ retryAfter }: RegistryError): string {
  if (retryAfter === undefined) return '';
  const minutes = Math.ceil(retryAfter / 60);
  const hours = Math.ceil(minutes / 60);
  const wait = retryAfter < 100 ? `${Math.ceil(retryAfter)} seconds` : `${minutes} minutes`;
  return ` It can work again in ${minutes < 100 ? wait : hours < 100 ? `${hours} hours` : 'over 4 days'}.`;
}

const maxShown = 20;

/** The sentence and each problem with its place, as lines for a person. */
export function shown({ message, problems, requestId, parts }: Failure): string[] {
  if (parts.length > 0) return parts.flatMap(shown);
  const lines = problems.slice(0, maxShown).map(({ path, message: what }) => `  ${path}: ${what}`);
  if (problems.length > maxShown) lines.push(`  and ${problems.length - maxShown} more`);
  if (requestId !== undefined) lines.push(`  request ${requestId}`);
  return [message, ...lines];
}
