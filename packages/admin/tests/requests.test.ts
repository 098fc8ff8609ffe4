import { describe, expect, test } from '@jest/globals';
import { admin, adminJson } from '../../../tests/support/admin.ts';
import { invoke, sampleBody } from '../../../tests/support/invoke.ts';
import { loggedLines } from '../../../tests/support/logged-lines.ts';
import { hook, say } from '../../../tests/support/notified.ts';
import { misbehave, proxies, simulation } from '../../../tests/support/proxies.ts';
import { pathOf } from '../../../tests/support/relay.ts';
import { bearer } from '../../../tests/support/tokens.ts';

const name = 'text-to-video';

async function pay(requestId: string, headers: Record<string, string> = {}) {
  const body = { ...sampleBody(name), callback_url: hook };
  const given = { authorization: bearer('demo-owner'), 'x-request-id': requestId, ...headers };
  return invoke(proxies[name], name, { body, headers: given });
}

const lines = () => loggedLines.map((line) => JSON.parse(line));

describe('request show', () => {
  test('shows the usage record, the key, the task and the notifications of a request', async () => {
    const { body } = await pay('shown-whole', { 'idempotency-key': 'once' });
    const sent: Record<string, unknown> = { ...Object(simulation.received.at(-1)?.body) };
    await say(pathOf(sent.callback_url), { id: body.task_id, state: 'success' });
    const { found } = await adminJson('request', 'show', 'shown-whole');
    const { stdout } = await admin('request', 'show', 'shown-whole');

    expect(found).toEqual([
      {
        usage: expect.objectContaining({
          request_id: 'shown-whole',
          caller: 'user:demo-owner',
          state: 'taken',
          task_id: body.task_id,
        }),
        answer: { state: 'answered', expires_at: expect.stringMatching(/Z$/) },
        task: expect.objectContaining({ address: hook, state: 'success' }),
        notifications: [expect.objectContaining({ state: 'success', attempts: expect.any(Number) })],
      },
    ]);
    expect(stdout).toMatch(new RegExp(`^Task of the provider +${body.task_id}$`, 'm'));
    expect(stdout).toContain('filter request_id = "shown-whole"');
  });

  test('shows what was reserved for a request whose outcome is unknown', async () => {
    misbehave({ kind: 'status', status: 500 });
    await pay('shown-unknown');
    const { found } = await adminJson('request', 'show', 'shown-unknown');

    expect(found).toMatchObject([{ usage: { state: 'unknown', credits: 74 }, notifications: [] }]);
  });

  test('says which query finds a request without records', async () => {
    const { stdout } = await admin('request', 'show', 'never-seen');

    expect(stdout).toContain('No record of a paid request has this id on these days.');
    expect(stdout).toContain('filter request_id = "never-seen"');
  });
});

test('logs a line right before a paid request is sent, under the ids of its other lines', async () => {
  loggedLines.length = 0;
  await pay('sent-once');
  const [sending, request] = lines();

  expect([sending.event, request.event]).toEqual(['sending', 'request']);
  expect(sending).toMatchObject({
    request_id: 'sent-once',
    function: 'textToVideo',
    principal: request.principal,
  });
});
