import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryCommandInput, QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { administer, listHistory, listItems } from '../../tools/admin/registry/administration.ts';
import { nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/table.ts';
import type { PublisherRecord } from '../../lib/registry/records.ts';
import { type Write, updating, checking } from '../../lib/store/write.ts';
import {
  listPersonalAccessTokens,
  putPersonalAccessToken,
  revokePersonalAccessToken,
} from '../../tools/admin/registry/tokens.ts';
import { stopDate } from 'testing/clock';
import { intercept } from '../support/intercept.ts';
import { duringNextWrite, limitPages } from '../support/admin.ts';
import { addNode, addPublisher, addVersion } from '../support/registry.ts';
import '../support/in-order.ts';

describe('administer', () => {
  const of = publisherKey('acme');
  const change = { of, action: 'test', subject: 'a thing', detail: 'because' };

  test('writes the change and its history in one transaction', async () => {
    await addPublisher('acme', {});
    stopDate();
    const asked: unknown[] = [];
    intercept(dynamodb, async ({ command, input, send }) => {
      if (command === 'TransactWriteItemsCommand') asked.push(input.TransactItems);
      return send();
    });
    const write: Write = updating<PublisherRecord>(of, { name: 'New' }, [['pk', 'exists']]);
    expect(await administer(async () => ({ change, writes: [write], result: 'done' }))).toBe('done');

    expect(asked).toEqual([[{ Update: expect.anything() }, { Update: expect.anything() }]]);
    const [entry] = await listHistory(of);
    expect(entry).toMatchObject({ action: 'test', subject: 'a thing', detail: 'because' });
    expect(entry?.actor).toMatch(/.@./);
    expect(entry?.at).toBe(new Date().toISOString());
  });

  test('records the actor that the environment names', async () => {
    process.env.ADMIN_ACTOR = 'release job 7';
    await addPublisher('by-a-job', {});
    delete process.env.ADMIN_ACTOR;

    expect(await listHistory(publisherKey('by-a-job'))).toMatchObject([
      { actor: 'release job 7', action: 'publisher create', subject: 'by-a-job' },
    ]);
  });

  test('decides again after a lost race, and records no change that was not made', async () => {
    const before = await listHistory(of);
    let rounds = 0;
    const result = await administer(async () => {
      rounds += 1;
      if (rounds === 3) return { done: rounds };
      return { change, writes: [checking(of, [['pk', 'absent']])], result: 0 };
    });

    expect(result).toBe(3);
    expect(await listHistory(of)).toEqual(before);
  });

  test('gives its work ten seconds', async () => {
    stopDate();
    const { deadline } = await administer(async (context) => ({ done: context }));

    expect(deadline).toBe(Date.now() + 10_000);
  });
});

describe('a listing', () => {
  const key = nodeVersionKey('any', '');
  const last = { pk: { S: 'p' }, sk: { S: 's' } };

  /** Answers each page in the store's place, and returns what was asked. */
  function answerPages(page: (count: number) => Partial<QueryCommandOutput>): QueryCommandInput[] {
    const asked: QueryCommandInput[] = [];
    intercept(dynamodb, async ({ input }) => {
      asked.push(input as unknown as QueryCommandInput);
      return page(asked.length);
    });
    return asked;
  }

  test('returns the items of every page', async () => {
    const nodeId = `long-${randomUUID()}`;
    await addNode('acme', nodeId);
    const versions = Array.from({ length: 8 }, (_, index) => `1.0.${index}`);
    for (const version of versions) await addVersion('acme', nodeId, version);
    limitPages(3);

    const items = await listItems(nodeVersionKey(nodeId, ''));

    expect(items.map(({ version }) => version)).toEqual(versions);
  });

  test('reads consistently, and continues where the earlier page ended', async () => {
    const asked = answerPages((count) => (count === 1 ? { LastEvaluatedKey: last } : {}));

    expect(await listItems(key)).toEqual([]);
    expect(asked).toMatchObject([{ ConsistentRead: true }, { ExclusiveStartKey: last }]);
    expect(asked[0]?.ExclusiveStartKey).toBeUndefined();
  });

  test('says that the store is down', async () => {
    const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    answerPages(() => {
      throw down;
    });

    await expect(listItems(key)).rejects.toMatchObject({ code: 'unavailable', cause: down });
  });
});

describe('personal access tokens', () => {
  async function newPublisher(): Promise<string> {
    const id = `p-${randomUUID()}`;
    await addPublisher(id, {});
    return id;
  }

  const put = (publisherId: string, hash: string) =>
    putPersonalAccessToken({ publisherId, hash, label: hash, expiresAt: '2099-01-01T00:00:00.000Z' });

  test('never replace one another', async () => {
    const publisherId = await newPublisher();
    const first = await put(publisherId, 'same');

    await expect(put(publisherId, 'same')).rejects.toThrow('This token is stored already.');
    expect(await listPersonalAccessTokens(publisherId)).toEqual([first]);
  });

  test('keep the time of the first revocation when two administrators revoke one at once', async () => {
    const publisherId = await newPublisher();
    const { id } = await put(publisherId, 'leaked');
    const first: string[] = [];

    const second = await duringNextWrite(
      async () => {
        first.push(await revokePersonalAccessToken(publisherId, id));
        await sleep(2);
      },
      () => revokePersonalAccessToken(publisherId, id),
    );

    expect([second]).toEqual(first);
    expect(await listPersonalAccessTokens(publisherId)).toMatchObject([{ id, revoked_at: second }]);
  });
});
