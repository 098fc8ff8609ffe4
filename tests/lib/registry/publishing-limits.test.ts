import { beforeEach, describe, expect, test } from '@jest/globals';
import { begunVersionsKey, nodeVersionKey, publisherKey } from '../../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../../lib/store/dynamodb.ts';
import { stopDate } from '@node-registry/testing/clock';
import { failCalls, intercept } from '../../support/intercept.ts';
import { publish as publishAs } from '../../support/publish.ts';
import { lines } from '../../support/logged-lines.ts';
import { addNode, addPublisher, addToken, setFields, storedItem, soon } from '../../support/registry.ts';
import { bearer } from '../../support/tokens.ts';
import { forgetPending, recordPending } from '../../../lib/registry/pending-versions.ts';
import { setVariables } from '../../support/variables.ts';

setVariables({ MAX_PENDING_VERSIONS: '3', MAX_NEW_NODES_PER_DAY: '2' });

let publisherId: string;
let token: string;
let number = 0;

beforeEach(async () => {
  stopDate();
  number += 1;
  publisherId = `publisher-${number}`;
  await addPublisher(publisherId, { olga: 'owner' });
  token = await addToken(publisherId);
});

const publish = (node: string, version = '1.0.0') =>
  publishAs({
    publisherId,
    nodeId: `${node}-${publisherId}`,
    version,
    token,
    as: bearer('olga', { expiresInSeconds: 3 * 86_400 }),
  });

const versions = ['1.0.0', '1.0.1', '1.0.2'] as const;

/** As many versions of one node as may be pending. */
async function fill(): Promise<void> {
  await addNode(publisherId, `n-${publisherId}`);
  for (const version of versions) expect((await publish('n', version)).status).toBe(201);
}

/** The versions that count as begun. */
async function begun(): Promise<string[]> {
  const { open = 0, ...record } = (await storedItem(begunVersionsKey(publisherId))) ?? {};
  const names = Object.keys(record).filter((name) => name.startsWith('v@'));
  expect(names).toHaveLength(Number(open));
  return names.map((name) => String(name.split('/')[1])).sort();
}

async function archiveArrives(nodeId: string, version: string): Promise<void> {
  await setFields(nodeVersionKey(`${nodeId}-${publisherId}`, version), { status: 'NodeVersionStatusActive' });
}

/** With the clock so much later than it is. */
async function afterSeconds<T>(seconds: number, work: () => Promise<T>): Promise<T> {
  const now = Date.now();
  stopDate(now + 1000 * seconds);
  return work().finally(() => stopDate(now));
}

describe('429 too_many_requests', () => {
  test('answers a new node beyond those of the day, with Retry-After, and publishes the others', async () => {
    const statuses = [(await publish('a')).status, (await publish('b')).status];
    const { status, body, headers } = await publish('c');

    expect(statuses).toEqual([201, 201]);
    expect([status, body.error]).toEqual([429, 'too_many_requests']);
    expect(body.message).toContain('2 new nodes a day');
    const midnight = new Date().setUTCHours(24, 0, 0, 0);
    expect(Math.abs(Number(headers['retry-after']) - (midnight - Date.now()) / 1000)).toBeLessThan(5);
    expect((await publish('a', '1.0.1')).status).toBe(201);
    await archiveArrives('a', '1.0.0');
    token = await addToken(publisherId, 3);
    const nextDay = await afterSeconds(Number(headers['retry-after']), () => publish('c'));
    expect(nextDay.status).toBe(201);
    const days = Object.keys((await storedItem(begunVersionsKey(publisherId))) ?? {}).filter((name) =>
      name.startsWith('nodes:'),
    );
    expect(days).toHaveLength(1);
  });

  test('answers by the limit of the publisher itself if that is lower', async () => {
    await setFields(publisherKey(publisherId), { new_nodes_per_day: 1 });

    expect([(await publish('a')).status, (await publish('b')).status]).toEqual([201, 429]);
  });

  test('answers a new version while too many wait for their archives, until one has arrived', async () => {
    await fill();
    const stopped = await publish('n', '1.0.3');

    expect([stopped.status, stopped.body.error]).toEqual([429, 'too_many_requests']);
    expect(stopped.body.message).toContain('3 versions');
    expect(stopped.headers['retry-after']).toBe('60');
    expect((await publish('n', '1.0.1')).status).toBe(201);
    await archiveArrives('n', '1.0.0');
    token = await addToken(publisherId, 3);
    await afterSeconds(300, async () => {
      expect((await publish('n', '1.0.3')).status).toBe(201);
      expect((await publish('n', '1.0.4')).status).toBe(429);
    });
  });

  test('counts a new node once, however many publishes of it run at once', async () => {
    const versions = Array.from({ length: 12 }, (_, patch) => `1.0.${patch}`);
    await Promise.all(versions.map((version) => publish('matrix', version)));
    const today = new Date().toISOString().slice(0, 10);

    expect(await storedItem(begunVersionsKey(publisherId))).toMatchObject({ [`nodes:${today}`]: 1 });
  });

  test('answers as many new nodes as there may be, however many are published at once', async () => {
    const answers = await Promise.all(['a', 'b', 'c'].map((node) => publish(node)));

    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 429]);
  });

  test('ends for versions that have their archive, or another publisher, though that was lost', async () => {
    await fill();
    await archiveArrives('n', '1.0.0');
    await setFields(nodeVersionKey(`n-${publisherId}`, '1.0.2'), { publisher_id: 'another' });
    let asked = {};
    intercept(dynamodb, ({ command, input, send }) => {
      if (command === 'BatchGetItemCommand') asked = Object(input.RequestItems)[tableName()];
      return send();
    });

    // The publishes that took their places may still run.
    expect((await afterSeconds(299.9, () => publish('n', '1.0.3'))).status).toBe(429);
    expect((await afterSeconds(360, () => publish('n', '1.0.3'))).status).toBe(201);
    // A version may be large, and a hundred may wait.
    expect(asked).toMatchObject({ ProjectionExpression: expect.any(String) });
    expect(await begun()).toEqual(['1.0.1', '1.0.3']);
  });

  test('looks versions up once a minute, however often a publisher repeats what is rejected', async () => {
    await fill();
    let looks = 0;
    intercept(dynamodb, ({ command, input, send }) => {
      const { ProjectionExpression } = Object(input.RequestItems)[tableName()] ?? {};
      if (command === 'BatchGetItemCommand' && ProjectionExpression) looks += 1;
      return send();
    });
    const stopped = async (version: string) => {
      const { status, headers } = await publish('n', version);
      return [status, headers['retry-after'], looks];
    };
    expect(await afterSeconds(300, () => stopped('1.0.3'))).toEqual([429, '60', 1]);
    expect(await afterSeconds(359.5, () => stopped('1.0.4'))).toEqual([429, '1', 1]);
    expect(await afterSeconds(360, () => stopped('1.0.4'))).toEqual([429, '60', 2]);
  });

  test('gives the place of one that no longer waits to one publish of two', async () => {
    await fill();
    await archiveArrives('n', '1.0.0');
    token = await addToken(publisherId, 3);
    let faster: Awaited<ReturnType<typeof publish>> | undefined;
    intercept(dynamodb, async ({ command, input, send }) => {
      if (command === 'UpdateItemCommand' && !faster && JSON.stringify(input).includes('/1.0.3"')) {
        faster = await publish('n', '1.0.4');
      }
      return send();
    });

    expect((await afterSeconds(300, () => publish('n', '1.0.3'))).status).toBe(429);
    expect(faster?.status).toBe(201);
    expect(await begun()).toEqual(['1.0.1', '1.0.2', '1.0.4']);
  });
});

describe('the pending versions of a publisher', () => {
  test('leaves the list when the archive arrives, and is noted by a resumed publish whose note was lost', async () => {
    await addNode(publisherId, `n-${publisherId}`);
    for (const version of ['1.0.0', '1.0.1']) await publish('n', version);
    const arrived = { publisherId, nodeId: `n-${publisherId}`, version: '1.0.0' };
    for (let time = 1; time <= 2; time += 1) await forgetPending(soon(), arrived);

    expect(await begun()).toEqual(['1.0.1']);
    await publish('n', '1.0.0');
    await recordPending(soon(), arrived);
    expect(await begun()).toEqual(['1.0.0', '1.0.1']);
  });

  test('never passes the limit, however many publishes run at once, and keeps the entry of one that died', async () => {
    await addNode(publisherId, `n-${publisherId}`);
    const many = Array.from({ length: 8 }, (_, patch) => publish('n', `1.0.${patch}`));
    const statuses = (await Promise.all(many)).map(({ status }) => status).sort();

    expect(statuses).toEqual([201, 201, 201, 429, 429, 429, 429, 429]);
    expect(await begun()).toHaveLength(3);
    const [version = ''] = await begun();
    await forgetPending(soon(), { publisherId, nodeId: `n-${publisherId}`, version });
    const revive = failCalls(dynamodb, 'TransactWriteItemsCommand', new Error('down'));
    expect((await publish('n', '2.0.0')).status).toBe(500);
    expect(await begun()).toContain('2.0.0');
    revive();
    expect((await publish('n', '2.0.0')).status).toBe(201);
  });

  test('costs one write', async () => {
    await addNode(publisherId, `n-${publisherId}`);
    const writes: string[] = [];
    intercept(dynamodb, ({ command, input, send }) => {
      if (!/BatchGet|Query/.test(command)) writes.push(JSON.stringify(input.Item ?? input.Key ?? command));
      return send();
    });
    for (const version of versions) await publish('n', version);

    expect(writes.filter((write) => write.includes('PENDING#'))).toHaveLength(3);
  });

  test('logs an entry that is not noted again, and rejects no publish', async () => {
    await addNode(publisherId, `n-${publisherId}`);
    await publish('n');
    await forgetPending(soon(), { publisherId, nodeId: `n-${publisherId}`, version: '1.0.0' });
    failCalls(dynamodb, 'UpdateItemCommand', new Error('The store is down.'));

    expect((await publish('n')).status).toBe(201);
    const causes = ['Error: The store is down.'];
    expect(lines('publishing_limits')).toMatchObject([{ level: 'warn', publisher_id: publisherId, causes }]);
  });
});
