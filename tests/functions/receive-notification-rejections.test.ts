import { describe, expect, test } from '@jest/globals';
import { notificationsOf, storedTask, unknownTicket } from '../support/relay.ts';
import { everythingOf, lastLine, type Path, say, started } from '../support/notified.ts';
import { handler } from '../../functions/receive-notification.ts';
import { handler as unknownRoute } from '../../functions/unknown-route.ts';
import { invoke } from '../support/invoke.ts';
import { countRequests, setFields } from '../support/registry.ts';

type Changes = Parameters<typeof invoke>[2];

describe('POST /notifications/{provider}/{ticket}: 404', () => {
  const wrong: [string, string, (path: Path) => { path?: Path; body?: object; changes?: Changes }][] = [
    ['an unknown ticket', 'unknown_ticket', (path) => ({ path: { ...path, ticket: unknownTicket() } })],
    [
      'the ticket of the other provider',
      'unknown_ticket',
      (path) => ({
        path: { ...path, provider: 'image' },
        body: { state: 'success', status: 'COMPLETED' },
      }),
    ],
    ['a provider that does not exist', 'provider', (path) => ({ path: { ...path, provider: 'audio' } })],
    ['a short ticket', 'ticket', (path) => ({ path: { ...path, ticket: path.ticket.slice(1) } })],
    ['a long ticket', 'ticket', (path) => ({ path: { ...path, ticket: `${path.ticket}A` } })],
    [
      'a ticket of other characters',
      'ticket',
      (path) => ({ path: { ...path, ticket: `${path.ticket.slice(1)}+` } }),
    ],
    ['an empty ticket', 'ticket', (path) => ({ path: { ...path, ticket: '' } })],
    ['an empty body', 'unreadable', () => ({ changes: { rawBody: '' } })],
    ['no JSON', 'unreadable', () => ({ changes: { rawBody: 'state=success' } })],
    ['a list', 'unreadable', () => ({ changes: { rawBody: '[{"state":"success"}]' } })],
    ['null', 'unreadable', () => ({ changes: { rawBody: 'null' } })],
    [
      'more than 6 MB as base64',
      'too_large',
      () => ({
        changes: {
          rawBody: Buffer.alloc(6 * 1024 * 1024 + 1, ' ').toString('base64'),
          isBase64Encoded: true,
        },
      }),
    ],
    [
      'bytes that are not UTF-8',
      'not_utf8',
      () => ({
        changes: {
          rawBody: Buffer.from('{"state":"success\xff"}', 'latin1').toString('base64'),
          isBase64Encoded: true,
        },
      }),
    ],
    ['half a character', 'not_utf8', () => ({ changes: { rawBody: '{"state":"success","text":"\ud800"}' } })],
  ];

  test.each(wrong)('answers %s as any unknown path, and changes nothing', async (_, reason, make) => {
    const path = await started();
    await say(path, { state: 'queueing' });
    const before = await everythingOf(path);
    const { path: called = path, body = { state: 'success' }, changes = {} } = make(path);
    const { result, requests } = await countRequests(() => say(called, body, changes));
    const line = lastLine();
    const elsewhere = await invoke(unknownRoute, 'unknown-route', {
      headers: { 'x-request-id': 'sample-receive-notification' },
    });

    expect(result).toEqual(elsewhere);
    expect(line).toMatchObject({ status: 404, code: 'route_not_found', reason });
    expect(await everythingOf(path)).toEqual(before);
    expect(requests).toEqual(reason === 'unknown_ticket' ? ['BatchGetItemCommand'] : []);
  });

  test('answers a task that has expired but is not deleted yet', async () => {
    const path = await started();
    const task = await storedTask(path.ticket);
    await setFields(task ?? { pk: '', sk: '' }, { ttl: Math.floor(Date.now() / 1000) - 1 });
    const { status } = await say(path, { state: 'success' });

    expect([status, lastLine().reason]).toEqual([404, 'unknown_ticket']);
    expect(await notificationsOf(path.ticket)).toEqual([]);
  });

  test('answers an event without headers and path', async () => {
    const { status } = await invoke(handler, 'unknown-route');

    expect([status, lastLine().reason]).toEqual([404, 'provider']);
  });
});
