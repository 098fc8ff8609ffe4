import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { nodeVersionKey, publishingKey } from '../../../lib/store/keys.ts';
import { invoke, type Result } from '../../support/invoke.ts';
import { addNode, addPublisher, addToken, setFields, storedItem } from '../../support/registry.ts';
import { bearer } from '../../support/tokens.ts';

process.env.MAX_PENDING_VERSIONS = '3';
process.env.MAX_NEW_NODES_PER_DAY = '2';
const { handler } = await import('../../../functions/publish-node-version.ts');

let publisherId: string;
let token: string;
let number = 0;

beforeEach(async () => {
  number += 1;
  publisherId = `publisher-${number}`;
  await addPublisher(publisherId, { olga: 'owner' });
  token = await addToken(publisherId);
});

function publish(nodeId: string, version = '1.0.0'): Promise<Result> {
  return invoke(handler, 'publish-node-version', {
    path: { publisherId, nodeId: `${nodeId}-${publisherId}` },
    body: { personal_access_token: token, node: {}, node_version: { version } },
    headers: { authorization: bearer('olga', { expiresInSeconds: 3 * 86_400 }) },
  });
}

async function archiveArrives(nodeId: string, version: string): Promise<void> {
  await setFields(nodeVersionKey(`${nodeId}-${publisherId}`, version), { status: 'NodeVersionStatusActive' });
}

describe('429 too_many_requests', () => {
  test('answers a new node beyond those of the day, with Retry-After, and publishes the others', async () => {
    const statuses = [(await publish('a')).status, (await publish('b')).status];
    const { status, body, headers } = await publish('c');

    expect(statuses).toEqual([201, 201]);
    expect([status, body.error]).toEqual([429, 'too_many_requests']);
    expect((await publish('a', '1.0.1')).status).toBe(201);
    await archiveArrives('a', '1.0.0');
    token = await addToken(publisherId, 3);
    const later = Date.now() + 1000 * Number(headers['retry-after']);
    jest.useFakeTimers({ now: later, doNotFake: ['setTimeout', 'setImmediate', 'nextTick'] });
    const nextDay = await publish('c');
    jest.useRealTimers();
    expect(nextDay.status).toBe(201);
  });

  test('answers a new version while too many wait for their archives, until one has arrived', async () => {
    await addNode(publisherId, `n-${publisherId}`);
    const versions = ['1.0.0', '1.0.1', '1.0.2'];
    for (const version of versions) expect((await publish('n', version)).status).toBe(201);
    const stopped = await publish('n', '1.0.3');

    expect([stopped.status, stopped.body.error]).toEqual([429, 'too_many_requests']);
    expect(stopped.body.message).toContain('3 versions');
    expect(stopped.headers['retry-after']).toBe('60');
    expect((await publish('n', '1.0.1')).status).toBe(201);
    await archiveArrives('n', '1.0.0');
    expect((await publish('n', '1.0.3')).status).toBe(201);
    expect((await publish('n', '1.0.4')).status).toBe(429);
  });

  test('is decided by what is pending, not by a count that could drift', async () => {
    await addNode(publisherId, `n-${publisherId}`);
    for (let patch = 0; patch < 10; patch += 1) {
      expect((await publish('n', `1.0.${patch}`)).status).toBe(201);
      await archiveArrives('n', `1.0.${patch}`);
    }
    const { pk, sk } = publishingKey(publisherId);
    const names = Object.keys((await storedItem(pk, sk)) ?? {}).filter((name) => name.startsWith('pending:'));

    expect(names.length).toBeLessThanOrEqual(3);
  });
});
