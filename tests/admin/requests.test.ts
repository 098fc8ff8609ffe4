import { beforeAll, describe, expect, test } from '@jest/globals';
import { admin, adminJson } from '../support/admin.ts';
import { setVariables } from '../support/variables.ts';
import { invoke, sampleBody } from '../support/invoke.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { intercept } from '../support/intercept.ts';
import { hook, say } from '../support/notified.ts';
import { misbehave, proxies, simulation } from '../support/proxies.ts';
import { pathOf } from '../support/relay.ts';
import { bearer } from '../support/tokens.ts';
import { callerHash, principalOf } from '../../lib/caller.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { show } from '../../tools/admin/commands/requests.ts';

const name = 'text-to-video';

async function pay(requestId: string, headers: Record<string, string> = {}) {
  const body = { ...sampleBody(name), callback_url: hook };
  const given = { authorization: bearer('demo-owner'), 'x-request-id': requestId, ...headers };
  return invoke(proxies[name], name, { body, headers: given });
}

const invocation = { actor: { operator: 'admin' }, suggest: String };
const run = (id: string, options: { from?: string; to?: string } = {}) =>
  show.run({ id }, options, invocation);

// The client of this process reads its address with its first request.
beforeAll(() => admin('limit', 'list'));

describe('request show', () => {
  test('shows the usage record, the key, the task and the notifications of a request', async () => {
    const { body } = await pay('shown-whole', { 'idempotency-key': 'once' });
    const sent: Record<string, unknown> = { ...Object(simulation.received.at(-1)?.body) };
    const creations = [{ id: '1', url: 'https://films.example.com/1.mp4' }];
    await say(pathOf(sent.callback_url), { id: body.task_id, state: 'success', creations });
    const { found } = await adminJson('request', 'show', 'shown-whole');
    const { stdout } = await admin('request', 'show', 'shown-whole');

    expect(found).toEqual([
      {
        usage: expect.objectContaining({
          request_id: 'shown-whole',
          caller: 'user:demo-owner',
          payment: 'taken',
          task_id: body.task_id,
        }),
        answer: { state: 'answered', expires_at: expect.stringMatching(/Z$/) },
        task: expect.objectContaining({ address: hook, state: 'success' }),
        media: ['https://films.example.com/1.mp4'],
        notifications: [expect.objectContaining({ state: 'success', tries: expect.any(Number) })],
      },
    ]);
    expect(stdout).toMatch(new RegExp(`^Task id +${body.task_id}$`, 'm'));
    expect(stdout).toMatch(/^Media +https:\/\/films\.example\.com\/1\.mp4$/m);
    expect(stdout).toMatch(/^ID +STATE .*\nmsg_\S+ +success /m);
    expect(stdout).toContain("filter request_id = 'shown-whole' or gateway_request_id = 'shown-whole' or ");
    expect(stdout).toContain(` or task_hash = '${found[0].usage.task_hash.slice(0, 16)}'`);
  });

  test('prints a command that asks both log groups of a deployed stage', async () => {
    const period = { from: '2026-11-20', to: '2026-11-21' };
    // A deployed stage has no DynamoDB of its own address.
    setVariables({ AWS_ENDPOINT_URL_DYNAMODB: undefined });
    const { data, text } = await run('shown-deployed', period);

    expect(data).toMatchObject({ found: [] });
    expect(text).toContain(
      `--start-time ${Date.UTC(2026, 10, 20) / 1000} --end-time ${Date.UTC(2026, 10, 23) / 1000}`,
    );
    expect(text).toContain(
      `--query-string "SOURCE logGroups(namePrefix: ['/${process.env.TABLE_NAME}/functions', '/aws/http-api/${process.env.TABLE_NAME}']) | fields @timestamp,`,
    );
    // `results[]` would take the lines apart into their fields.
    expect(text).toContain(`--query "results[*].[[?field=='@message'].value | [0]]"`);
  });

  test('prints the query even if the table does not answer, and says so', async () => {
    intercept(dynamodb, () => {
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    });
    const { text, problem } = await run('shown-nothing');

    expect(text).toContain("filter request_id = 'shown-nothing' or ");
    expect(problem).toMatch(/^The table cannot be reached/);
  });

  test.each(['a"b', "a'b", '$(id)', ''])('rejects %j as an id', async (id) => {
    await expect(run(id)).rejects.toThrow('is not the id of a request.');
  });

  test.each([
    ['ID', 'demo-owner'],
    ['hash', principalOf('demo-owner')],
  ])('reads the records of one caller only, by its %s', async (name, user) => {
    await pay(`shown-by-${name}`);
    await pay(`other-by-${name}`, { authorization: bearer('demo-member') });
    const partitions = new Set<string>();
    intercept(dynamodb, ({ input, send }) => {
      const { ':v1': partition } = Object(Object(input).ExpressionAttributeValues);
      if (partition?.S.startsWith('USAGE#')) partitions.add(partition.S.split('#')[2]);
      return send();
    });
    const { data } = await show.run({ id: `shown-by-${name}` }, { user }, invocation);
    const others = await show.run({ id: `other-by-${name}` }, { user }, invocation);

    expect(data).toMatchObject({ found: [{ usage: { caller: 'user:demo-owner' } }] });
    expect(others.data).toMatchObject({ found: [] });
    const read = [...partitions].filter((hash) => hash.length > 1);
    expect(read).toEqual([callerHash('user:demo-owner')]);
  });

  test('stops after 1,000 callers, and says how to name one', async () => {
    let asked = 0;
    intercept(dynamodb, async ({ input }) => {
      const { ':v1': partition, ':v2': bound } = Object(input).ExpressionAttributeValues;
      const isCallers = bound.S.startsWith('CALLER#');
      if (!isCallers) asked += 1;
      // Each shard of a day has 100 callers, and each caller has one record.
      const names = isCallers
        ? Array.from({ length: 100 }, (_, index) => `${partition.S}-${index}`)
        : ['some'];
      if (!isCallers && !partition.S.endsWith('#0')) return { Items: [] };
      return {
        Items: names.map((caller) => ({ caller: { S: `user:${caller}` }, sk: { S: caller }, n: { N: '0' } })),
      };
    });
    const { text } = await run('shown-among-many');

    expect(text).toMatch(/^Only the first 1000 pages of records were read\. Give --user/);
    expect(asked).toBeLessThan(4100);
  });
});

test('shows why a request was rejected', async () => {
  misbehave({ kind: 'status', status: 422 });
  await pay('shown-rejected');

  expect((await admin('request', 'show', 'shown-rejected')).stdout).toMatch(/^Code +provider_rejected$/m);
});

test('logs a line right before a paid request is sent, under the ids of its other lines', async () => {
  loggedLines.length = 0;
  await pay('sent-once');
  const [sending, request] = loggedLines.map((line) => JSON.parse(line));

  const { principal } = request;
  const ids = { request_id: 'sent-once', function: 'textToVideo', principal };
  expect([sending, request]).toMatchObject([{ event: 'sending', ...ids }, { event: 'request' }]);
});
