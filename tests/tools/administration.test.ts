import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryCommandInput, QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, test } from '@jest/globals';
import { newDeadline, untilWritten } from '../../tools/admin/registry/administration.ts';
import { nodeVersionKey } from '../../lib/store/keys.ts';
import { listItems } from '../../tools/admin/registry/listing.ts';
import { dynamodb } from '../../lib/store/table.ts';
import {
  listPersonalAccessTokens,
  putPersonalAccessToken,
  revokePersonalAccessToken,
} from '../../tools/admin/registry/tokens.ts';
import { duringNextWrite } from '../support/admin.ts';
import { addNode, addPublisher, addVersion } from '../support/registry.ts';

describe('a change', () => {
  test('is decided anew until it is written', async () => {
    const answers = [undefined, undefined, 'written'];

    expect(await untilWritten(async () => answers.shift())).toBe('written');
    expect(answers).toEqual([]);
  });

  test('that others undo twenty times is given up', async () => {
    let rounds = 0;
    const attempt = async () => {
      rounds += 1;
      if (rounds > 20) throw new Error('There is no end to it.');
      return undefined;
    };

    await expect(untilWritten(attempt)).rejects.toMatchObject({ code: 'conflict' });
    expect(rounds).toBe(20);
  });

  test('has ten seconds', async () => {
    const deadline = await untilWritten(async (deadline) => deadline);

    for (const each of [deadline, newDeadline()]) {
      expect(each - Date.now()).toBeGreaterThan(5000);
      expect(each - Date.now()).toBeLessThanOrEqual(10_000);
    }
  });
});

describe('a listing', () => {
  const name = 'pages';
  const key = nodeVersionKey('any', '');
  const last = { pk: { S: 'p' }, sk: { S: 's' } };

  afterEach(() => {
    dynamodb.middlewareStack.remove(name);
  });

  /** Answers each page in the store's place, and says what was asked. */
  function answerPages(page: (count: number) => Partial<QueryCommandOutput>): QueryCommandInput[] {
    const asked: QueryCommandInput[] = [];
    dynamodb.middlewareStack.add(
      () => async (args) => {
        asked.push(args.input as QueryCommandInput);
        return { output: { $metadata: {}, ...page(asked.length) }, response: {} };
      },
      { step: 'initialize', name },
    );
    return asked;
  }

  test('has the items of every page', async () => {
    const nodeId = `long-${randomUUID()}`;
    await addNode('acme', nodeId);
    const versions = Array.from({ length: 8 }, (_, index) => `1.0.${index}`);
    for (const version of versions)
      await addVersion('acme', nodeId, version, { changelog: 'x'.repeat(200_000) });

    const items = await listItems(nodeVersionKey(nodeId, ''));

    expect(items.map(({ version }) => version)).toEqual(versions);
  });

  test('sees what was just written, and goes on where the page before ended', async () => {
    const asked = answerPages((count) => (count === 1 ? { LastEvaluatedKey: last } : {}));

    expect(await listItems(key)).toEqual([]);
    expect(asked).toMatchObject([{ ConsistentRead: true }, { ExclusiveStartKey: last }]);
    expect(asked[0]?.ExclusiveStartKey).toBeUndefined();
  });

  test('of more than a thousand pages is a fault', async () => {
    const asked = answerPages((count) => (count > 1000 ? {} : { LastEvaluatedKey: last }));

    await expect(listItems(key)).rejects.toThrow('The listing of NODE#any does not end.');
    expect(asked).toHaveLength(1000);
  });

  test('from a store that is down says so', async () => {
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

  test('are listed as they were made, without their hashes', async () => {
    const publisherId = await newPublisher();
    const made = [];
    for (const hash of ['c', 'a', 'b']) {
      made.push(await put(publisherId, hash));
      await sleep(2);
    }

    expect(await listPersonalAccessTokens(publisherId)).toEqual(made);
  });

  test('are never stored over one another', async () => {
    const publisherId = await newPublisher();
    const first = await put(publisherId, 'same');

    await expect(put(publisherId, 'same')).rejects.toThrow('This token is stored already.');
    expect(await listPersonalAccessTokens(publisherId)).toEqual([first]);
  });

  test('are revoked since the first time, where two administrators revoke one at once', async () => {
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
