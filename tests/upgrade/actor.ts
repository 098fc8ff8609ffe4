import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { SQSBatchResponse } from 'aws-lambda';
import { issueCiToken, issueToken } from '../../tools/local/issuer.ts';
import { type EventRecord, type Source, sources } from './events.ts';
import type { FunctionProcess } from '../support/function-process.ts';
import type { Stage } from './stage.ts';

export interface Request {
  path?: Record<string, string>;
  body?: object;
  user?: string;
  headers?: Record<string, string>;
  limitMs?: number;
}

/** The fields that a journey reads of an endpoint's answer; which of them are there depends on the endpoint. */
interface Body
  extends Record<'signedUrl' | 'description' | 'icon' | 'function' | 'task_id' | 'payload', string> {
  node_version: { id: string };
  node_versions: { node_version?: Partial<Record<string, string>> }[];
  tags: string[];
  latest_version?: { version: string };
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Body;
}

interface GatewayAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded?: boolean;
}

/** A rule that must hold while two releases serve one table. The rule is what a failure is called. */
export function hold(rule: string, isHeld: boolean, found: unknown): asserts isHeld {
  if (!isHeld) throw new Error(`${rule}: ${JSON.stringify(found)?.slice(0, 2000)}`);
}

/** One release as it serves a stage: callers, AWS events and the operator reach its functions here. */
export class Actor {
  readonly stage: Stage;
  readonly name: string;
  readonly #release: FunctionProcess;

  constructor(stage: Stage, release: FunctionProcess) {
    this.stage = stage;
    this.name = release.name;
    this.#release = release;
  }

  /** Sends a request to an endpoint: the sample event with other contents. `by` may be another function. */
  async send(name: string, { path, body, user, headers, limitMs }: Request, by = name): Promise<Answer> {
    const event = sample<{ headers: Record<string, string>; pathParameters: object; body: string }>(name);
    event.headers = { 'content-type': 'application/json', ...headers };
    if (user !== undefined) event.headers.authorization = `Bearer ${issueToken(this.stage.key, { user })}`;
    event.pathParameters = { ...event.pathParameters, ...path };
    if (body !== undefined) event.body = JSON.stringify(body);
    const invocation = { name: by, input: event, ...(limitMs !== undefined && { limitMs }) };
    const answer = (await this.#invoke(invocation)) as GatewayAnswer;
    const text = answer.isBase64Encoded
      ? gunzipSync(Buffer.from(answer.body, 'base64')).toString()
      : answer.body;
    return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(text) };
  }

  /** A request that must succeed. */
  async call(name: string, request: Request, ...accepted: number[]): Promise<Answer> {
    const answer = await this.send(name, request);
    const { status, body } = answer;
    hold('no 5xx', status < 500 || accepted.includes(status), { name, status, body, log: this.#causes() });
    const expected = accepted.length > 0 ? accepted : [200];
    hold(`${name} answers ${expected.join(' or ')}`, expected.includes(status), { status, body });
    return answer;
  }

  ciToken(repository: string): string {
    return issueCiToken(this.stage.key, { repository, workflow: 'release.yml' });
  }

  /** Runs `npm run admin -- … --json`. */
  async admin<Output>(...words: string[]): Promise<Output> {
    const result = await this.#invoke({ name: 'admin', input: [...words, '--json'] });
    const { status, stdout, stderr } = result as { status: number; stdout: string; stderr: string };
    hold('the administration works', status === 0, { words, stderr });
    return JSON.parse(stdout);
  }

  /** The schedule of a function, as if so many minutes had passed. */
  async schedule(name: string, minutes = 0): Promise<void> {
    await this.#event(name, { source: 'aws.events' }, minutes);
  }

  /** Passes records of a source to its function. Returns those that failed, unless it was their last time. */
  async handle(
    source: Source,
    records: readonly EventRecord[],
    isLast: boolean,
  ): Promise<readonly EventRecord[]> {
    const reply = (await this.#event(sources[source], { Records: records })) as SQSBatchResponse | undefined;
    const names = reply?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier) ?? [];
    hold('no event fails', names.length === 0 || !isLast, { source, records, log: this.#causes() });
    if (names.length === 0) return [];
    // A stream begins again where it stopped.
    return source === 'stream'
      ? records
      : records.filter((record) => 'messageId' in record && names.includes(record.messageId));
  }

  async #event(name: string, input: unknown, minutes = 0): Promise<unknown> {
    const invocation = { name, input, laterMs: minutes * 60_000, limitMs: 120_000 };
    return this.#invoke(invocation).catch(({ message }: Error) => {
      const found = { name, error: message.slice(0, 1500), log: this.#causes() };
      return hold('no event fails', false, found);
    });
  }

  #invoke(invocation: Parameters<FunctionProcess['invoke']>[0]): Promise<unknown> {
    return this.stage.events.during(this.name, () => this.#release.invoke(invocation));
  }

  #causes(): string {
    const errors = this.#release
      .log()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'));
    return errors.at(-1)?.slice(0, 400) ?? '';
  }
}

function sample<Event>(name: string): Event {
  return JSON.parse(readFileSync(`events/${name}.json`, 'utf8'));
}
