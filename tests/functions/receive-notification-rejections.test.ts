import { describe, expect, test } from '@jest/globals';
import { notificationsOf, storedTask, unknownTicket } from '../support/relay.ts';
import { everythingOf, hook, lastLine, type Path, say, started } from '../support/notified.ts';
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
    ['no state', 'state', () => ({ body: { id: '1' } })],
    ['an unknown state', 'state', () => ({ body: { state: 'paused' } })],
    ['a state that is the name of a property', 'state', () => ({ body: { state: 'constructor' } })],
    ['a state that is no text', 'state', () => ({ body: { state: ['success'] } })],
    ['the other provider’s field', 'state', () => ({ body: { status: 'COMPLETED' } })],
    ['an empty body', 'state', () => ({ changes: { rawBody: '' } })],
    ['no JSON', 'state', () => ({ changes: { rawBody: 'state=success' } })],
    ['JSON with a byte order mark', 'state', () => ({ changes: { rawBody: '\uFEFF{"state":"success"}' } })],
    ['a list', 'state', () => ({ changes: { rawBody: '[{"state":"success"}]' } })],
    ['null', 'state', () => ({ changes: { rawBody: 'null' } })],
    ['more than 64 KB', 'too_large', () => ({ body: { state: 'success', text: 'x'.repeat(64 * 1024) } })],
    [
      'more than 64 KB of long characters',
      'too_large',
      () => ({
        body: { state: 'success', text: 'é'.repeat(33 * 1024) },
      }),
    ],
    [
      'more than 64 KB as base64',
      'too_large',
      () => ({
        changes: { rawBody: Buffer.alloc(65 * 1024, ' ').toString('base64'), isBase64Encoded: true },
      }),
    ],
    ['5 MB', 'too_large', () => ({ body: { state: 'success', text: 'x'.repeat(5_000_000) } })],
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

  test('answers a task whose notification no record can hold, and changes nothing', async () => {
    const path = await started();
    const task = await storedTask(path.ticket);
    await setFields(task ?? { pk: '', sk: '' }, { address: `${hook}?${'x'.repeat(350_000)}` });
    const before = await everythingOf(path);
    const answer = await say(path, { state: 'success', text: 'x'.repeat(60_000) });
    const line = lastLine();
    const unknown = await say({ ...path, ticket: unknownTicket() }, { state: 'success' });

    expect(answer).toEqual(unknown);
    expect(line).toMatchObject({ level: 'info', status: 404, reason: 'record_too_large' });
    expect(await everythingOf(path)).toEqual(before);
  });

  test('answers an event without headers and path', async () => {
    const { status } = await invoke(handler, 'unknown-route');

    expect([status, lastLine().reason]).toEqual([404, 'provider']);
  });
});
