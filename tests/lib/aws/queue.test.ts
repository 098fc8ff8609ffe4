import { json } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type NewMessage, sendMessages } from '../../../lib/aws/queue.ts';
import type { Context } from '../../../lib/context.ts';
import { serve } from '../../support/serve.ts';
import { outwait, startSilentServer } from '../../support/silent-server.ts';

/** Stands in for SQS, which may take some messages of a batch and reject the others. */
let answers: [status: number, content: object][] = [];
const asked: unknown[] = [];
const server = await serve(async (request, response) => {
  asked.push(await json(request));
  const [status, content] = answers.shift() ?? [200, {}];
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(content));
});
const url = `${server.url}/000000000000/queue`;
const send = (context: Context, messages: NewMessage[]) => sendMessages(context, url, messages);
const soon = () => ({ deadline: Date.now() + 60_000 });
const messages = [{ body: { id: 1 }, group: 'olga', delaySeconds: 900 }, { body: 'text' }];

beforeEach(() => {
  asked.length = 0;
});

describe('sendMessages', () => {
  test('sends all messages in one request, each with its group and its delay', async () => {
    await send(soon(), messages);

    expect(asked).toEqual([
      {
        QueueUrl: url,
        Entries: [
          { Id: '0', MessageBody: '{"id":1}', MessageGroupId: 'olga', DelaySeconds: 900 },
          { Id: '1', MessageBody: '"text"' },
        ],
      },
    ]);
  });

  test('sends more than ten messages in several requests', async () => {
    await send(
      soon(),
      Array.from({ length: 11 }, (_, body) => ({ body })),
    );

    expect(asked).toMatchObject([{ Entries: { length: 10 } }, { Entries: [{ Id: '0', MessageBody: '10' }] }]);
  });

  test('throws if the queue rejected a part of the messages', async () => {
    answers = [[200, { Successful: [], Failed: [{ Id: '1', Code: 'InternalError', SenderFault: false }] }]];

    await expect(send(soon(), messages)).rejects.toThrow('SQS did not accept 1 of 2 messages: InternalError');
  });

  test('tries three times while SQS fails', async () => {
    answers = [1, 2].map(() => [503, {}]);
    await send(soon(), messages);
    answers = [1, 2, 3].map(() => [503, {}]);
    await expect(send(soon(), messages)).rejects.toMatchObject({ $metadata: { httpStatusCode: 503 } });

    expect(asked).toHaveLength(3 + 3);
  });

  test('waits two seconds at each of three tries for a queue that never answers', async () => {
    const silent = await startSilentServer();
    const sending = () => sendMessages(soon(), silent.url, messages);
    const { error, ms } = await outwait(silent, sending, { leapMs: 1900, maxMs: 20_000 });

    expect([silent.asked, error]).toEqual([3, expect.any(Error)]);
    expect(ms).toBeGreaterThanOrEqual(6000);
    expect(ms).toBeLessThan(8000);
  });

  test('waits for such a queue no longer than until the deadline', async () => {
    const silent = await startSilentServer();
    const sending = sendMessages({ deadline: Date.now() + 100 }, silent.url, messages);

    await expect(sending).rejects.toThrow();
    expect(silent.asked).toBe(1);
  });
});
