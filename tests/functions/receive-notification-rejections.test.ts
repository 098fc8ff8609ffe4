import { describe, expect, test } from '@jest/globals';
import { notificationsOf, storedTask, unknownSecret } from '../support/relay.ts';
import { everythingOf, lastLine, say, started } from '../support/notified.ts';
import { handler } from '../../functions/receive-notification.ts';
import { handler as unknownRoute } from '../../functions/unknown-route.ts';
import { type Changes, invoke } from '../support/invoke.ts';
import { countRequests, setFields } from '../support/registry.ts';

/** The body of a call in base64. */
const encoded = (body: Buffer) => ({ rawBody: body.toString('base64'), isBase64Encoded: true });

describe('POST /notifications/{provider}/{task}: 404', () => {
  test.each<[what: string, reason: string, call: (secret: string) => Changes]>([
    ['an unknown secret', 'unknown_task', () => ({ path: { task: unknownSecret() } })],
    [
      'the secret of the other provider',
      'unknown_task',
      () => ({ path: { provider: 'image' }, body: { state: 'success', status: 'COMPLETED' } }),
    ],
    ['a provider that does not exist', 'provider', () => ({ path: { provider: 'audio' } })],
    ['a short secret', 'task', (secret) => ({ path: { task: secret.slice(1) } })],
    ['a long secret', 'task', (secret) => ({ path: { task: `${secret}A` } })],
    ['a secret of other characters', 'task', (secret) => ({ path: { task: `${secret.slice(1)}+` } })],
    ['an empty secret', 'task', () => ({ path: { task: '' } })],
    ['an empty body', 'unreadable', () => ({ rawBody: '' })],
    ['no JSON', 'unreadable', () => ({ rawBody: 'state=success' })],
    ['a list', 'unreadable', () => ({ rawBody: '[{"state":"success"}]' })],
    ['null', 'unreadable', () => ({ rawBody: 'null' })],
    ['more than 6 MB as base64', 'too_large', () => encoded(Buffer.alloc(6 * 1024 * 1024 + 1, ' '))],
    ['bytes that are not UTF-8', 'not_utf8', () => encoded(Buffer.from('{"state":"success\xff"}', 'latin1'))],
    ['half a character', 'not_utf8', () => ({ rawBody: '{"state":"success","text":"\ud800"}' })],
  ])('answers %s as any unknown path, and changes nothing', async (_, reason, make) => {
    const path = await started();
    await say(path, { state: 'queueing' });
    const before = await everythingOf(path);
    const { path: called, ...changes } = make(path.task) ?? {};
    const { result, requests } = await countRequests(() =>
      say({ ...path, ...called }, { state: 'success' }, changes),
    );
    const line = lastLine();
    const headers = { 'x-request-id': 'sample-receive-notification' };
    const elsewhere = await invoke(unknownRoute, 'unknown-route', { headers });

    expect(result).toEqual(elsewhere);
    expect(line).toMatchObject({ status: 404, code: 'route_not_found', reason });
    expect(await everythingOf(path)).toEqual(before);
    expect(requests).toEqual(reason === 'unknown_task' ? ['BatchGetItemCommand'] : []);
  });

  test('answers a task that has expired but is not deleted yet', async () => {
    const path = await started();
    const task = await storedTask(path.task);
    await setFields(task ?? { pk: '', sk: '' }, { ttl: Math.floor(Date.now() / 1000) - 1 });
    const { status } = await say(path, { state: 'success' });

    expect([status, lastLine().reason]).toEqual([404, 'unknown_task']);
    expect(await notificationsOf(path.task)).toEqual([]);
  });

  test('answers an event without headers and path', async () => {
    const { status } = await invoke(handler, 'unknown-route');

    expect([status, lastLine().reason]).toEqual([404, 'provider']);
  });
});
