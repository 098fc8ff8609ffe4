import { describe, expect, jest, test } from '@jest/globals';
import { requestContext } from '../../../lib/context.ts';
import { tooLargeOr, untilAnswered } from '../../../lib/store/dynamodb.ts';
import { runProgram } from '@node-registry/testing/shell';
import { timed } from '../../support/timed.ts';

/** In a process of its own: Jest's own errors are not those of Node, and the SDK wraps what it does not know. */
const realFailures = `
  import { createServer } from 'node:http';
  import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
  import { untilAnswered } from './lib/store/dynamodb.ts';
  const listen = (server) => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const failure = async (host, port) => {
    const client = new DynamoDBClient({ endpoint: 'http://' + host + ':' + port, region: 'us-east-1', credentials, maxAttempts: 1 });
    const call = () => client.send(new ListTablesCommand({}));
    return untilAnswered({ deadline: 0 }, 'ListTables', call).catch(({ reason }) => reason.split(': ')[1]);
  };
  const resetting = createServer((request) => request.on('end', () => request.socket.resetAndDestroy()).resume());
  const port = await listen(resetting);
  // After the other, which might get the port that this one leaves.
  const closed = createServer();
  const free = await listen(closed);
  closed.close();
  const failures = [];
  for (const host of ['127.0.0.1', 'localhost', 'name.invalid']) failures.push(await failure(host, free));
  failures.push(await failure('127.0.0.1', port));
  console.log(JSON.stringify(failures));
  process.exit();
`;

describe('a call to the store', () => {
  test('reads a call without a connection as never sent, and a connection that is reset as unanswered', async () => {
    const { stdout } = await runProgram(process.execPath, ['--input-type=module', '-e', realFailures]);

    expect(JSON.parse(stdout)).toEqual(['unsent', 'unsent', 'unsent', 'unanswered']);
  });
});

const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
const conflict = Object.assign(new Error('met'), { name: 'TransactionConflictException' });

describe('untilAnswered', () => {
  const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const reset = () => Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' });
  const sendAddition = (errors: Error[]) => {
    let calls = 0;
    const call = async () => {
      const error = errors[calls];
      calls += 1;
      if (error) throw error;
      return calls;
    };
    return untilAnswered({ deadline: Date.now() + 5000 }, 'UpdateItem', call, false);
  };

  test('makes an addition again that was never sent, throttled or in conflict', async () => {
    expect(await sendAddition([refused(), refused(), throttled, conflict])).toBe(5);
  });

  const oneOfTwo = Object.assign(new AggregateError([refused(), reset()]), { code: 'ECONNREFUSED' });

  test.each([
    ['one lost connection', [reset()]],
    ['two connections, one of them lost', [oneOfTwo]],
    ['four calls without a connection', Array.from({ length: 4 }, refused)],
  ])('makes no addition again after %s', async (_, causes) => {
    const failure = { code: 'unavailable', cause: causes.at(-1) };
    await expect(sendAddition(causes)).rejects.toMatchObject(failure);
  });
});

describe('a store that throttles', () => {
  test('uses up two seconds or eight repeats of a request', async () => {
    jest.useFakeTimers();
    const callsOfFailing = async (shareOfWaits: number, failure: Error) => {
      jest.spyOn(Math, 'random').mockReturnValue(shareOfWaits);
      const call = jest.fn(async () => {
        if (call.mock.calls.length <= 100) throw failure;
      });
      await timed(untilAnswered(requestContext({}), 'Query', call));
      return call.mock.calls.length;
    };

    expect([await callsOfFailing(0, throttled), await callsOfFailing(0.5, throttled)]).toEqual([9, 8]);
    // Conflicts last for milliseconds, and are not metered.
    expect(await callsOfFailing(0.5, conflict)).toBe(60);
    jest.useRealTimers();
  });
});

describe('the errors of the store', () => {
  const withStatus = (httpStatusCode: number) =>
    Object.assign(new Error(), { $metadata: { httpStatusCode } });
  const withCode = (code: unknown) => Object.assign(new Error(), { code });
  const named = (name: string) => Object.assign(new Error(), { name });
  const failing = (error: unknown) => untilAnswered({ deadline: 0 }, 'Query', () => Promise.reject(error));

  const throttling = 'ProvisionedThroughputExceededException,RequestLimitExceeded,ThrottlingException';
  const passing = 'InternalServerError,ServiceUnavailable,TimeoutError';

  test.each([
    ...`${throttling},LimitExceededException,${passing}`.split(',').map(named),
    ...[500, 503].map(withStatus),
    withCode('ECONNREFUSED'),
  ])('make the service unavailable if they may pass (%#)', async (cause) => {
    await expect(failing(cause)).rejects.toMatchObject({ name: 'ApiError', code: 'unavailable', cause });
  });

  test('are conflicts while a transaction runs', async () => {
    const cause = named('TransactionInProgressException');

    await expect(failing(cause)).rejects.toMatchObject({ name: 'ApiError', code: 'conflict', cause });
  });

  test.each([
    'Item size has exceeded the maximum allowed size',
    'Item size to update has exceeded the maximum allowed size',
    'The item exceeds the maximum allowed size',
    'Too large',
  ])('name a record that is too large: %j', (message) => {
    const cause = new Error(message);

    expect(tooLargeOr(cause)).toMatchObject({ code: 'record_too_large', cause });
  });

  test.each([
    new Error('another'),
    withStatus(499),
    // Codes of Node, or only alike those of a system.
    ...['E1', 'ERR_INVALID_ARG_TYPE', 'E', 'SEE', 'Eof', ['EPIPE']].map(withCode),
    { name: 'TimeoutError', message: 'too large' },
    undefined,
  ])('are unchanged if they are others (%#)', async (error) => {
    await expect(failing(error)).rejects.toBe(error);
    expect(tooLargeOr(error)).toBe(error);
  });
});
