import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import { handler } from '../../functions/align-registry.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import { archiveKey, objectUrl } from '../../lib/bucket/object-keys.ts';
import { align } from '../../lib/registry/alignment.ts';
import { banNodeVersions, setNodeBan, setPublisherBan } from '../../lib/registry/bans.ts';
import { listOwnedNodes, movePublisher } from '../../lib/registry/moves.ts';
import { nodeRecord, nodeVersionRecord, publisherRecord } from '../../lib/registry/records.ts';
import { nodeKey, personalAccessTokenKey, publisherKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { queryAll } from '../../lib/store/read.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { seed } from '../../tools/local/seed.ts';
import { admin, adminJson } from '../support/admin.ts';
import { failCalls, intercept } from '../support/intercept.ts';
import { lines } from '../support/logged-lines.ts';
import { runQueue } from '../support/queue.ts';
import {
  addNode,
  addToken,
  addVersion,
  putItem,
  setFields,
  storedItem,
  storedNode,
} from '../support/registry.ts';
import { serve } from '../support/serve.ts';
import { addTwoPublishers, from, nodeId, ownersNow, to } from '../support/two-publishers.ts';
import { finalize, publish, put, putObject, sha256, storedVersion } from '../support/uploads.ts';
import { setVariables } from '../support/variables.ts';
import { handOver } from '../support/work.ts';

const operator = { operator: 'admin' };
const soon = () => ({ deadline: Date.now() + 9_000 });

/** A minute after a command has died, and again after what that leaves. */
async function engine(rounds = 1): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    stopDate(Date.now() + 61_000);
    await handOver();
    while ((await runQueue(handler, 'align')) > 0);
  }
}

const owes = async (key: { pk: string; sk: string }) => {
  const { intent, pending_shard } = (await storedItem(key)) ?? {};
  return intent !== undefined || pending_shard !== undefined;
};

beforeEach(async () => {
  stopDate();
  await addTwoPublishers();
});

describe('what a command left when it died', () => {
  test('leaves no node in the list of an id that was taken back', async () => {
    await movePublisher(soon(), operator, 'rename', from, `${from}-2`);
    const revive = failCalls(dynamodb, 'DeleteItemCommand', new Error('The process was killed.'));
    await engine();
    revive();
    await admin('node', 'transfer', nodeId, '--to', to);
    await movePublisher(soon(), operator, 'rename', `${from}-2`, from);
    await engine(8);

    expect(await ownersNow()).toEqual([to]);
    expect([await listOwnedNodes(soon(), from), await owes(publisherKey(from))]).toEqual([[], false]);
  });

  test('is not ended by work for an earlier decision', async () => {
    await setNodeBan(soon(), operator, nodeId, 'spam');
    const earlier = await storedNode(nodeId);
    await setNodeBan(soon(), operator, nodeId, undefined);

    expect(earlier && (await align(soon(), earlier))).toBe('done');
    expect(await owes(nodeKey(nodeId))).toBe(true);
  });

  test('is given up with its reason if it is more than the role may do', async () => {
    await movePublisher(soon(), operator, 'merge', from, to);
    await addToken(to);
    const [token] = await queryAll(soon(), personalAccessTokenKey(to, ''));
    await putItem({ ...token, pk: publisherKey(from).pk, sk: 'TOKEN#left' });
    await admin('publisher', 'rename', to, `${to}-2`);
    await setFields(publisherKey(from), { tries: 7 });
    await engine();

    const [{ key }] = await adminJson('work', 'list', '--lane', 'align', '--given-up');
    const { stdout } = await admin('work', 'show', key);
    const [, words = ''] =
      /Tokens or trusts of ".*" are left\. Move them: npm run admin -- (.*)/.exec(stdout) ?? [];
    expect(words).toBe(`publisher merge ${from} --into ${to}-2`);
    expect((await admin(...words.split(' '))).status).toBe(0);
    expect(await owes(publisherKey(from))).toBe(false);
    expect(await adminJson('token', 'list', `${to}-2`)).toHaveLength(3);
  });
});

test('a ban reads each large version once, however often it goes on, and a ban of one reads no other', async () => {
  const labels = Array.from({ length: 40 }, (_, place) => `1.${place}.0`);
  for (const label of labels) await addVersion(from, nodeId, label, { changelog: 'x'.repeat(60_000) });
  let kilobytes = 0;
  intercept(dynamodb, async ({ send }) => {
    const output = await send();
    kilobytes += JSON.stringify({ ...output }).length / 1000;
    return output;
  });
  const listed: unknown[] = [];
  intercept(s3(), ({ input, send }) => {
    listed.push(input.Prefix);
    return send();
  });
  const took = async (work: Promise<unknown>) => {
    await work;
    let runs = 0;
    // Each run has the time of a page.
    for (let outcome: unknown = 'more'; outcome === 'more'; runs += 1)
      outcome = await align({ deadline: Date.now() + 9_999 }, nodeRecord({ ...(await storedNode(nodeId)) }));
    const read = kilobytes;
    kilobytes = 0;
    return { runs, read };
  };
  const one = await took(banNodeVersions(soon(), operator, nodeId, ['1.39.0'], 'bad'));
  const all = await took(setNodeBan(soon(), operator, nodeId, 'spam'));

  expect(one.read).toBeLessThan(8 * 60);
  expect(listed).toEqual([`archives/${nodeId}/1.39.0/`, `archives/${nodeId}/`]);
  expect(all.runs).toBeGreaterThan(2);
  expect(all.read).toBeLessThan(1.5 * 40 * 60);
  const states = await Promise.all(labels.map((label) => storedVersion(nodeId, label)));
  expect(states.filter((state) => nodeVersionRecord(state).bans?.node === 'spam')).toHaveLength(40);
});

test('a ban of a publisher denies the archives of all its nodes before the versions of a large one follow', async () => {
  const ids = [...Array(7).keys()].map((place) => `${nodeId}-${place}`);
  for (const id of ids) {
    await addNode(from, id, { versions: 51 });
    await Promise.all(Array.from({ length: 51 }, (_, minor) => addVersion(from, id, `1.${minor}.0`)));
    await putObject(`archives/${id}/1.0.0/a.zip`, Buffer.from('zip'));
  }
  const calls: string[] = [];
  for (const client of [dynamodb, s3()])
    intercept(client, async ({ command, input, send }) => {
      calls.push(/VERSION#1.50.0"}.*fraud/.test(JSON.stringify(input)) ? 'last version' : command);
      return send();
    });
  await admin('publisher', 'ban', from, '--reason', 'fraud');

  const denied = calls.flatMap((call, place) => (call === 'PutObjectTaggingCommand' ? place : []));
  expect([denied.length, calls.filter((call) => call === 'last version').length]).toEqual([7, 7]);
  expect(Math.max(...denied)).toBeLessThan(calls.indexOf('last version'));
});

test('a ban of a publisher with more nodes than a run can do goes on from where it has come to', async () => {
  const ids = Array.from({ length: 101 }, (_, place) => `${nodeId}-${place}`);
  await Promise.all(ids.map((id) => addNode(from, id)));
  await setPublisherBan(soon(), operator, from, 'fraud');
  let told = 0;
  intercept(dynamodb, ({ command, input, send }) => {
    if (command === 'UpdateItemCommand' && JSON.stringify(input.Key).includes('NODE#')) told += 1;
    return send();
  });
  const run = async () =>
    // The time of a page.
    align({ deadline: Date.now() + 9_999 }, publisherRecord({ ...(await storedItem(publisherKey(from))) }));

  expect([await run(), await run(), told]).toEqual(['more', 'done', 102]);
  // One group for all of its nodes, or they would delay the work of others.
  expect((await storedNode(nodeId))?.group).toBe(from);
  expect(await owes(publisherKey(from))).toBe(false);
});

describe('the archives of a banned node', () => {
  let statuses: string[];
  let paths: string[];
  /** CloudFront takes another request with one of these for the same one. */
  const references = new Set<unknown>();

  beforeAll(async () => {
    await seed();
    /** What CloudFront answers over the wire; there is no engine of it that runs here. */
    const cloudFront = await serve(async (request, response) => {
      const asked = await text(request);
      paths.push(...[...asked.matchAll(/<Path>(.*?)<\/Path>/g)].map(([, path]) => String(path)));
      for (const [, name] of asked.matchAll(/<CallerReference>(.*?)</g)) references.add(name);
      const status = statuses.shift() ?? 'Completed';
      const isBusy = status === 'busy';
      const error =
        '<Error><Type>Sender</Type><Code>TooManyInvalidationsInProgress</Code><Message>m</Message></Error>';
      const answer = isBusy
        ? `<ErrorResponse xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/">${error}</ErrorResponse>`
        : `<Invalidation><Id>I1</Id><Status>${status}</Status></Invalidation>`;
      response.writeHead(isBusy ? 400 : 200, { 'content-type': 'text/xml' }).end(answer);
    });
    setVariables({ AWS_ENDPOINT_URL_CLOUDFRONT: cloudFront.url });
  });

  test('are denied at once, and the lane waits without tries until their copies are dropped', async () => {
    setVariables({ DISTRIBUTION_ID: 'E1' });
    [statuses, paths] = [['busy', 'InProgress', 'InProgress'], []];
    const id = `node-${randomUUID()}`;
    const bytes = demoArchive(id);
    const upload = await publish(id, '1.0.0');
    await put(upload, bytes);
    await finalize(upload);
    const address = objectUrl(archiveKey(upload, sha256(bytes)));
    await setNodeBan(soon(), operator, id, 'spam');
    const seen: unknown[] = [];
    for (let round = 0; round < 3; round += 1) {
      await engine();
      seen.push(
        (await storedNode(id))?.tries ?? 'done',
        (await fetch(address)).status,
        await owes(nodeKey(id)),
      );
    }

    expect(seen).toEqual([0, 403, true, 0, 403, true, 1, 403, false]);
    expect(paths).toEqual(Array(3).fill(`/archives/${id}/*`));
    expect(lines('work')).toEqual([]);
    await admin('node', 'unban', id);
    expect((await fetch(address)).status).toBe(200);
    expect(references.size).toBe(1);
    await setNodeBan(soon(), operator, id, 'spam again');
    await engine();
    expect(references.size).toBe(2);
  });
});
