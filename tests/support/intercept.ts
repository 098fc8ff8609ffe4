import { afterEach } from '@jest/globals';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { asOperator } from './roles.ts';

/** One call of an SDK client before it is sent. */
interface Call {
  /** Such as `UpdateItemCommand`. */
  command: string;
  input: Record<string, unknown>;
  /** Sends it to the server. */
  send: () => Promise<object>;
}

const installed: (() => void)[] = [];

afterEach(() => {
  for (const remove of installed.splice(0)) remove();
});

/**
 * Until the test ends, every call of a client passes through `handle`, which sends it, answers it with an output of
 * its own, or throws instead. The SDK's own retries are not visible here: they happen below.
 */
export function intercept(
  client: DynamoDBClient | S3Client,
  handle: (call: Call) => Promise<object>,
): () => void {
  const { middlewareStack } = client as DynamoDBClient;
  const name = `intercepted-${installed.length}`;
  middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const input = args.input as Record<string, unknown>;
        let response: unknown = {};
        const send = async () => {
          const reply = await next(args);
          response = reply.response;
          return reply.output;
        };
        const output = await asOperator((resume) =>
          handle({ command: String(commandName), input, send: () => resume(send) }),
        );
        return { response, output: { $metadata: {}, ...output } };
      },
    { step: 'initialize', name },
  );
  const remove = () => {
    middlewareStack.remove(name);
  };
  installed.push(remove);
  return remove;
}

/** Runs other work right before the next calls of a command are sent, once or this many times. */
export function beforeNext(
  client: DynamoDBClient | S3Client,
  command: RegExp,
  work: () => Promise<unknown>,
  times = 1,
) {
  let count = 0;
  const remove = intercept(client, async (call) => {
    if (count < times && command.test(call.command)) {
      count += 1;
      await work();
    }
    return call.send();
  });
  return { happened: () => count > 0, remove };
}

/** Until the test ends, or the result is called, the calls of a command fail whose input contains a text. */
export function failCalls(
  client: DynamoDBClient | S3Client,
  command: string,
  error: Error,
  text = '',
): () => void {
  return intercept(client, async (call) => {
    if (call.command === command && JSON.stringify(call.input).includes(text)) throw error;
    return call.send();
  });
}

/** Answers the calls one by one instead of the server, and repeats the last answer. Returns the inputs. */
export function answerInTurn(client: DynamoDBClient | S3Client, ...answers: (object | Error)[]): object[] {
  const asked: object[] = [];
  intercept(client, async ({ input }) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? {};
    asked.push(input);
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return asked;
}
