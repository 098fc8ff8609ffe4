import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { isObject, type JsonObject, parseObject } from '../../lib/json.ts';
import { startHttpServer } from '../processes/http-server.ts';
import { localOnly } from './local-only.ts';
import { Queue } from './sqs-queue.ts';

/*
 * SQS over HTTP, as strict as AWS for everything that this service relies on. Written by hand: the servers on
 * npm use the query protocol, which today's SDK no longer does, and none of them repeats a message on demand.
 */

class SqsError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface QueueSettings {
  visibilitySeconds: number;
  /** The queue for messages that were received this often and not deleted. */
  deadLetter?: { queue: string; maxReceiveCount: number };
}

/** Returns why the caller may not make a request, if so. */
type DenialOf = (request: IncomingMessage, body: string) => string | undefined;

export type Sqs = Awaited<ReturnType<typeof startSqs>>;

const account = '000000000000';
const maxMessageBytes = 1_048_576;
const maxBatch = 10;

export async function startSqs(port: number, settings: Record<string, QueueSettings>, denialOf?: DenialOf) {
  const queues = new Map<string, Queue>();
  for (const [name, { visibilitySeconds, deadLetter: letters }] of Object.entries(settings)) {
    const deadLetter = letters && {
      maxReceiveCount: letters.maxReceiveCount,
      send: (body: string, group: string | undefined) => queues.get(letters.queue)?.send(body, { group }),
    };
    queues.set(name, new Queue(visibilitySeconds, deadLetter));
  }
  const serve = localOnly(async (request, response) => {
    const answer = await run(queues, request, denialOf).catch((error: unknown) => {
      if (error instanceof SqsError) return error;
      throw error;
    });
    const isError = answer instanceof SqsError;
    const type = { 'content-type': 'application/x-amz-json-1.0' };
    const body = isError ? { __type: `com.amazonaws.sqs#${answer.code}`, message: answer.message } : answer;
    const status = isError ? (answer.code === 'ServiceUnavailable' ? 503 : 400) : 200;
    response.writeHead(status, type).end(JSON.stringify(body));
  });
  const { url, stop } = await startHttpServer(serve, port);
  return {
    url,
    queueUrl: (name: string) => `${url}/${account}/${name}`,
    queue: (name: string) => found(queues, name),
    stop: async () => {
      for (const queue of queues.values()) queue.close();
      await stop();
    },
  };
}

function found(queues: ReadonlyMap<string, Queue>, name: string): Queue {
  const queue = queues.get(name);
  if (!queue) throw new SqsError('QueueDoesNotExist', 'The specified queue does not exist.');
  return queue;
}

async function run(
  queues: ReadonlyMap<string, Queue>,
  request: IncomingMessage,
  denialOf?: DenialOf,
): Promise<object> {
  const { authorization = '', 'x-amz-target': target = '' } = request.headers;
  const body = await text(request);
  if (!/^AWS4-HMAC-SHA256 Credential=[^,]*\/sqs\/aws4_request, /.test(authorization))
    throw new SqsError('MissingAuthenticationToken', 'The request must be signed for sqs.');
  const input = parseObject(body);
  if (!input) throw new SqsError('SerializationException', 'The body is not a JSON object.');
  const denial = denialOf?.(request, body);
  if (denial !== undefined) throw new SqsError('AccessDeniedException', denial);
  // Nothing else goes over HTTP: the event sources have the queues themselves.
  if (target !== 'AmazonSQS.SendMessageBatch')
    throw new SqsError('InvalidAction', `Unknown target ${target}.`);
  const name = new URL(string(input, 'QueueUrl')).pathname.split('/').at(-1) ?? '';
  const queue = found(queues, name);
  if (queue.faults.isDown) throw new SqsError('ServiceUnavailable', 'The queue is down.');
  return sendBatch(queue, input);
}

// Tab, line feed, carriage return, and the characters of XML.
const allowedText = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]+$/u;
const groupShape = /^[\x21-\x7e]{1,128}$/;

function send(queue: Queue, input: JsonObject): object {
  const body = string(input, 'MessageBody');
  if (Buffer.byteLength(body) > maxMessageBytes || !allowedText.test(body))
    throw new SqsError(
      'InvalidMessageContents',
      'The body is too long or has characters that are not allowed.',
    );
  const group = input.MessageGroupId === undefined ? undefined : string(input, 'MessageGroupId');
  if (group !== undefined && !groupShape.test(group)) throw invalid('MessageGroupId');
  const { DelaySeconds: delaySeconds = 0 } = input;
  if (!Number.isInteger(delaySeconds) || Number(delaySeconds) < 0 || Number(delaySeconds) > 900)
    throw invalid('DelaySeconds');
  const id = queue.send(body, { group, delaySeconds: Number(delaySeconds) });
  return { MessageId: id, MD5OfMessageBody: createHash('md5').update(body).digest('hex') };
}

/** Each entry succeeds or fails independently. */
function sendBatch(queue: Queue, input: JsonObject): object {
  const entries = Array.isArray(input.Entries) ? input.Entries.filter(isObject) : [];
  if (entries.length === 0) throw new SqsError('EmptyBatchRequest', 'The batch has no entries.');
  if (entries.length > maxBatch)
    throw new SqsError('TooManyEntriesInBatchRequest', `The batch has more than ${maxBatch} entries.`);
  if (new Set(entries.map(({ Id }) => Id)).size < entries.length)
    throw new SqsError('BatchEntryIdsNotDistinct', 'Two entries have the same Id.');
  const Successful: object[] = [];
  const Failed: object[] = [];
  for (const entry of entries) {
    const Id = string(entry, 'Id');
    try {
      Successful.push({ Id, ...send(queue, entry) });
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      Failed.push({ Id, Code: error.code, Message: error.message, SenderFault: true });
    }
  }
  return { Successful, ...(Failed.length > 0 && { Failed }) };
}

function string(input: JsonObject, name: string): string {
  const value = input[name];
  if (typeof value !== 'string' || value === '')
    throw new SqsError('MissingParameter', `${name} is missing.`);
  return value;
}

function invalid(name: string): SqsError {
  return new SqsError('InvalidParameterValue', `The value of ${name} is not allowed.`);
}
