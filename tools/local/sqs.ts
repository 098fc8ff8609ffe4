import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { parseObject } from '../../lib/json.ts';
import { startLocalServer } from './local-only.ts';
import { Queue } from './sqs-queue.ts';

/*
 * SQS over HTTP, as strict as AWS for everything that this service relies on. Written by hand: the servers on
 * npm use the query protocol, which today's SDK no longer does, and none of them repeats a message on demand.
 */

/** Returns why the caller may not make a request, if so. */
type DenialOf = (request: IncomingMessage, body: string) => string | undefined;

export type Sqs = Awaited<ReturnType<typeof startSqs>>;

const account = '000000000000';
const maxMessageBytes = 1_048_576;
// Tab, line feed, carriage return, and the characters of XML.
const allowedText = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]+$/u;

/** AWS rejects some faults of an entry alone; here the whole batch is rejected. */
const Batch = z.object({
  QueueUrl: z.string(),
  Entries: z
    .array(
      z.object({
        Id: z.string(),
        MessageBody: z.string().check(
          z.regex(allowedText),
          z.refine((body) => Buffer.byteLength(body) <= maxMessageBytes),
        ),
        MessageGroupId: z.optional(z.string().check(z.regex(/^[\x21-\x7e]{1,128}$/))),
        DelaySeconds: z.optional(z.int().check(z.gte(0), z.lte(900))),
      }),
    )
    .check(z.minLength(1), z.maxLength(10)),
});

/** Starts the named queues. Without dead letters: nothing here reads them. */
export async function startSqs(port: number, visibilitySeconds: Record<string, number>, denialOf?: DenialOf) {
  const named = Object.entries(visibilitySeconds).map(
    ([name, seconds]) => [name, new Queue(seconds)] as const,
  );
  const queues = new Map(named);
  const { url, stop } = await startLocalServer(port, async (request, response) => {
    const body = await text(request);
    const [status, content] = answerTo(queues, request, body, denialOf?.(request, body));
    const type = { 'content-type': 'application/x-amz-json-1.0' };
    response.writeHead(status, type).end(JSON.stringify(content));
  });
  return {
    url,
    queueUrl: (name: string) => `${url}/${account}/${name}`,
    queue: (name: string) => queues.get(name) as Queue,
    stop: async () => {
      for (const queue of queues.values()) queue.close();
      await stop();
    },
  };
}

type Answer = [status: number, content: object];

function answerTo(
  queues: ReadonlyMap<string, Queue>,
  { headers: { authorization = '', 'x-amz-target': target = '' } }: IncomingMessage,
  body: string,
  denial: string | undefined,
): Answer {
  if (!/^AWS4-HMAC-SHA256 Credential=[^,]*\/sqs\/aws4_request, /.test(authorization))
    return failure('MissingAuthenticationToken', 'The request must be signed for sqs.');
  if (denial !== undefined) return failure('AccessDeniedException', denial);
  // Nothing else goes over HTTP: the event sources have the queues themselves.
  if (target !== 'AmazonSQS.SendMessageBatch') return failure('InvalidAction', `Unknown target ${target}.`);
  const { data, error } = Batch.safeParse(parseObject(body));
  if (error) return failure('InvalidParameterValue', z.prettifyError(error));
  const queue = queues.get(new URL(data.QueueUrl).pathname.split('/').at(-1) ?? '');
  if (!queue) return failure('QueueDoesNotExist', 'The specified queue does not exist.');
  if (queue.faults.isDown) return failure('ServiceUnavailable', 'The queue is down.', 503);
  const Successful = data.Entries.map(({ Id, MessageBody, MessageGroupId: group, DelaySeconds = 0 }) => ({
    Id,
    MessageId: queue.send(MessageBody, { group, delaySeconds: DelaySeconds }),
    // The SDK compares it.
    MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
  }));
  return [200, { Successful }];
}

function failure(code: string, message: string, status = 400): Answer {
  return [status, { __type: `com.amazonaws.sqs#${code}`, message }];
}
