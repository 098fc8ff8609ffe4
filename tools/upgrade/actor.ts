import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { DynamoDBStreamEvent, S3Event, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { drainQueue } from '../local/consume-queue.ts';
import { queues } from '../local/queues.ts';
import { issueCiToken, issueToken } from '../local/issuer.ts';
import { encodeEventKey } from '../local/s3-event-key.ts';
import type { RunningRelease } from './release.ts';
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
  readonly #release: RunningRelease;

  constructor(stage: Stage, release: RunningRelease) {
    this.stage = stage;
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
    const answer = (await this.#release.invoke(invocation)) as GatewayAnswer;
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
    const result = await this.#release.invoke({ name: 'admin', input: [...words, '--json'] });
    const { status, stdout, stderr } = result as { status: number; stdout: string; stderr: string };
    hold('the administration works', status === 0, { words, stderr });
    return JSON.parse(stdout);
  }

  /** S3's event of an upload. */
  async uploaded(key: string): Promise<void> {
    const event = sample<S3Event>('finalize-upload');
    for (const { s3 } of event.Records) s3.object.key = encodeEventKey(key);
    await this.#event('finalize-upload', event);
  }

  /** The message that S3 sends about a published archive. */
  async published(key: string): Promise<void> {
    const event = sample<SQSEvent>('extract-host-nodes');
    for (const message of event.Records) {
      const body: S3Event = JSON.parse(message.body);
      for (const { s3 } of body.Records) s3.object.key = encodeEventKey(key);
      message.body = JSON.stringify(body);
    }
    await this.#batch('extract-host-nodes', event);
  }

  /** The schedule of a function, as if so many minutes had passed. */
  async schedule(name: string, minutes = 0): Promise<void> {
    await this.#event(name, { source: 'aws.events' }, minutes);
  }

  /** What the table's stream says of changed records. */
  async changed(...keys: { pk: string; sk: string }[]): Promise<void> {
    const [record] = sample<DynamoDBStreamEvent>('write-index').Records;
    const Records = keys.map(({ pk, sk }, place) => ({
      ...record,
      dynamodb: { ...record?.dynamodb, Keys: { pk: { S: pk }, sk: { S: sk } }, SequenceNumber: `${place}` },
    }));
    await this.#batch('write-index', { Records });
  }

  /** Passes the messages of a queue to its function, once the queue shows them. */
  async drain(name: 'notifications' | 'extractions'): Promise<void> {
    const handler = name === 'notifications' ? 'deliver-notifications' : 'extract-host-nodes';
    const queue = this.stage.sqs.queue(name);
    queue.skip(1000 * queues.extractions.delaySeconds);
    await drainQueue(queue, (event) => this.#batch(handler, event));
  }

  async #batch(name: string, event: object): Promise<SQSBatchResponse> {
    const reply = (await this.#event(name, event)) as SQSBatchResponse;
    const failed = reply.batchItemFailures;
    hold('no event fails', failed.length === 0, { name, failed, log: this.#causes() });
    return reply;
  }

  async #event(name: string, input: unknown, minutes = 0): Promise<unknown> {
    const invocation = { name, input, laterMs: minutes * 60_000, limitMs: 120_000 };
    return this.#release.invoke(invocation).catch(({ message }: Error) => {
      const found = { name, error: message.slice(0, 1500), log: this.#causes() };
      return hold('no event fails', false, found);
    });
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
