import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { APIGatewayProxyStructuredResultV2, SQSBatchResponse } from 'aws-lambda';
import { issueCiToken, issueToken } from '../../tools/local/issuer.ts';
import { denialOfQueue, readsQueue } from '../support/rights.ts';
import { type Source, sources, type Waiting } from './events.ts';
import type { Running, Stage } from './stage.ts';

interface Request {
  path?: Record<string, string>;
  body?: object;
  user?: string;
  headers?: object;
}

/** The fields that a journey reads of an endpoint's answer; which of them are there depends on the endpoint. */
interface Body extends Record<'signedUrl' | 'description' | 'function' | 'task_id' | 'payload', string> {
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

class BrokenRule extends Error {}

/** A rule that must hold while two releases serve one table. The rule is what a failure is called. */
export function hold(rule: string, isHeld: boolean, found: unknown): asserts isHeld {
  if (!isHeld) throw new BrokenRule(`${rule}: ${JSON.stringify(found)?.slice(0, 2000)}`);
}

const maxReceives = 3;
const maxRounds = 30;

/** One release as it serves a stage: callers, AWS events and the operator reach its functions here. */
export class Actor {
  readonly stage: Stage;
  readonly #running: Running;
  readonly #folder: string | undefined;

  /** `folder` has other files for the same release. */
  constructor(stage: Stage, running: Running, folder?: string) {
    this.stage = stage;
    this.#running = running;
    this.#folder = folder;
  }

  /** Sends a request to an endpoint: the sample event with other contents. */
  async send(name: string, { path, body, user, headers }: Request): Promise<Answer> {
    const event = JSON.parse(readFileSync(`events/${name}.json`, 'utf8'));
    event.headers = { 'content-type': 'application/json', ...headers };
    if (user !== undefined) event.headers.authorization = `Bearer ${issueToken(this.stage.key, { user })}`;
    event.pathParameters = { ...event.pathParameters, ...path };
    if (body !== undefined) event.body = JSON.stringify(body);
    const reply = (await this.#invoke(name, event)) as APIGatewayProxyStructuredResultV2;
    const { statusCode: status = 0, headers: found, body: sent = '', isBase64Encoded: isPacked } = reply;
    const text = isPacked ? String(gunzipSync(Buffer.from(sent, 'base64'))) : sent;
    return { status, headers: { ...found } as Answer['headers'], body: JSON.parse(text) };
  }

  /** A request that must be answered with one of these. */
  async call(name: string, request: Request, ...accepted: number[]): Promise<Answer> {
    const { status, headers, body } = await this.send(name, request);
    const expected = accepted.length > 0 ? accepted : [200];
    hold(`${name} answers ${expected.join(' or ')}`, expected.includes(status), this.#found(body));
    return { status, headers, body };
  }

  ciToken(repository: string): string {
    return issueCiToken(this.stage.key, { repository, workflow: 'release.yml' });
  }

  /** Runs `npm run admin -- … --json`. */
  async admin<Output>(...words: string[]): Promise<Output> {
    const result = await this.#invoke('admin', [...words, '--json']);
    const { status, stdout, stderr } = result as { status: number; stdout: string; stderr: string };
    hold('the administration works', status === 0, { words, stderr });
    return JSON.parse(stdout);
  }

  /** The schedule of a function, as if so many minutes had passed. */
  async schedule(name: string, minutes: number): Promise<void> {
    await this.#event(name, { source: 'aws.events' }, minutes);
  }

  /** Handles the events that contain a mark. What comes of them waits. Returns how many they were. */
  async handle(mark: string, minutes = 0): Promise<number> {
    const events = await this.stage.events.take(mark);
    for (const [source, waiting] of Map.groupBy(events, (event) => event.source))
      while (waiting.length > 0) await this.#pass(source, waiting.splice(0, sources[source].batch), minutes);
    return events.length;
  }

  /** The same until none waits, each time as if another minute had passed. */
  async settle(mark: string): Promise<void> {
    for (let round = 0; (await this.handle(mark, round)) > 0; round += 1)
      hold('no event fails', round < maxRounds, this.#found(mark));
  }

  async #pass(source: Source, batch: Waiting[], minutes: number): Promise<void> {
    const [{ name }, { statements }] = [sources[source], this.#running];
    if (statements && (source === 'extractions' || source === 'notifications'))
      hold('no right is missing', !denialOfQueue(statements, name, source, readsQueue), name);
    const reply = await this.#event(name, { Records: batch.map(({ record }) => record) }, minutes);
    const failed = (reply as SQSBatchResponse | undefined)?.batchItemFailures ?? [];
    for (const event of failed.length === 0 ? [] : batch) {
      // A stream begins again where it stopped.
      const id = 'messageId' in event.record ? event.record.messageId : failed[0]?.itemIdentifier;
      if (!failed.some(({ itemIdentifier }) => itemIdentifier === id)) continue;
      hold('no event fails', event.receives < maxReceives - 1, this.#found({ source, event }));
      this.stage.events.again(event);
    }
  }

  async #event(name: string, input: unknown, minutes = 0): Promise<unknown> {
    return this.#invoke(name, input, minutes * 60_000).catch((error: Error) => {
      if (error instanceof BrokenRule) throw error;
      return hold('no event fails', false, this.#found({ name, message: error.message }));
    });
  }

  async #invoke(name: string, input: unknown, laterMs = 0): Promise<unknown> {
    const { process, denied } = this.#running;
    const file = this.#folder === undefined ? {} : { file: join(this.#folder, `${name}.js`) };
    const [result] = await Promise.allSettled([process.invoke({ name, input, laterMs, ...file })]);
    const missing = denied.splice(0);
    hold('no right is missing', missing.length === 0, missing);
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }

  #found(found: unknown): object {
    const errors = this.#running.process.log().match(/^.*"level":"error".*$/gm);
    return { found, log: errors?.at(-1)?.slice(0, 600) };
  }
}
