import { createHash, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { beforeAll, expect, test } from '@jest/globals';
import type { S3Event } from 'aws-lambda';
import { handler } from '../../functions/count-downloads.ts';
import { handler as updateNode } from '../../functions/update-node.ts';
import { handler as writeIndex } from '../../functions/write-index.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import { readText } from '../../lib/bucket/public-file.ts';
import { countDownloads, readCountedNodes, writeCountedNodes } from '../../lib/downloads/count-files.ts';
import { refreshNode } from '../../lib/index/node-files.ts';
import { changeNumbers, dayBefore, numbersOf, withCounts } from '../../lib/registry/numbers.ts';
import { nodePath } from '@node-registry/registry-rules/index-paths';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { intercept } from '../support/intercept.ts';
import { invoke } from '../support/invoke.ts';
import { lines } from '../support/logged-lines.ts';
import { drainQueue, type QueueHandler } from '../../tools/local/consume-queue.ts';
import { indexChanges } from '../support/queue.ts';
import { addNode, addPublisher, addVersion, soon, storedNode } from '../support/registry.ts';
import { bearer } from '../support/tokens.ts';
import { setVariables } from '../support/variables.ts';

const logBucket = `${process.env.BUCKET_NAME}-logs`;
const fields =
  'date time cs-method cs-uri-stem sc-status cs(User-Agent) sc-range-start sc-content-len sc-bytes';
const invocation = { awsRequestId: 'count', getRemainingTimeInMillis: () => 60_000 };
const day = dayBefore(1);

beforeAll(async () => {
  setVariables({ LOG_BUCKET_NAME: logBucket });
  await mkdir(join(String(process.env.TEST_DIRECTORY), 's3', logBucket), { recursive: true });
  await addPublisher('acme', { olga: 'owner' });
});

function stemOf(nodeId: string, version: string): string {
  return `/archives/${nodeId}/${version}/${randomUUID()}-${'a'.repeat(64)}.zip`;
}

interface Line {
  stem: string;
  method?: string;
  status?: number;
  agent?: string;
  range?: string;
  /** The length of the response, and what was sent of it. */
  length?: number;
  sent?: number;
}

function logOf(...lines: Line[]): string {
  const texts = lines.map((line) => {
    const { stem, method = 'GET', status = 200, agent = 'python/3', range = '-', length = 700 } = line;
    const how = [status, encodeURIComponent(agent), range, length, line.sent ?? length];
    return [day, '12:00:00', method, stem, ...how].join('\t');
  });
  return `#Version: 1.0\n#Fields: ${fields}\n${texts.join('\n')}\n`;
}

async function putLog(text: string): Promise<string> {
  const key = `downloads/E1.${day}-12.${createHash('md5').update(text).digest('hex')}.gz`;
  await s3().send(new PutObjectCommand({ Bucket: logBucket, Key: key, Body: gzipSync(text) }));
  return key;
}

const eventOf = (...keys: string[]) =>
  ({ Records: keys.map((key) => ({ s3: { object: { key } } })) }) as S3Event;
const schedule = { source: 'aws.events' } as Parameters<typeof handler>[0];

test.each<[number, string, Partial<Line>]>([
  [1, 'a download', {}],
  [1, 'a part from the first byte on', { status: 206, range: '0', length: 65_536 }],
  [0, 'the first bytes', { status: 206, range: '0', length: 65_535 }],
  [1, 'a large archive that broke off', { length: 900_000, sent: 65_536 }],
  [0, 'a small one that broke off', { sent: 699 }],
  [0, 'a download that goes on', { status: 206, range: '1000' }],
  [0, 'a HEAD', { method: 'HEAD' }],
  [0, 'a copy that was current', { status: 304 }],
  [0, 'a denied archive', { status: 403 }],
  [0, 'a crawler', { agent: 'Mozilla/5.0 (compatible; Examplebot/2.1)' }],
  [0, 'a file that is no archive', { stem: '/index/v1/config.json' }],
  [0, 'a path that is no text', { stem: '/archives/%FF' }],
])('counts %i for %s', (amount, _, line) => {
  const counts = countDownloads(logOf({ stem: stemOf('Some_Node', '1.0.0+cu118'), ...line }));

  expect(counts.get('some-node')?.get(day)?.get('1.0.0+cu118') ?? 0).toBe(amount);
});

test('names the bytes of a log, which the alarm adds up, whatever was requested', async () => {
  const log = logOf({ stem: '/index/v1/config.json' }, { stem: '/', status: 403 });
  const other = log.replace('sc-bytes', 'another-field');
  await handler(eventOf(await putLog(log), await putLog(other)), invocation);

  expect(lines('log_file').map(({ download_bytes }) => download_bytes)).toEqual([1400, 0]);
});

test('counts each file once, however often its event comes or if it never does, and keeps the ETag', async () => {
  const published = { sha256: 'a'.repeat(64), archive_key: 'archives/constructor/1.0.0/id.zip' };
  const latest_version = { ...published, version: '1.0.0', status: 'NodeVersionStatusActive' };
  await addNode('acme', 'constructor', { latest_version });
  await addVersion('acme', 'constructor', '1.0.0', published);
  const line = { stem: stemOf('constructor', '1.0.0') };
  const [first, second] = [await putLog(logOf(line, line)), await putLog(logOf(line))];
  await putLog(logOf(line, line, line, line));
  const before = await storedNode('constructor');
  await handler(eventOf(second, first, first), invocation);
  await handler(schedule, invocation);
  await handler(eventOf(first, second), invocation);
  await handler(schedule, invocation);
  const messages = await drainQueue(indexChanges, writeIndex as QueueHandler);
  const file = await readText(soon(), nodePath('constructor'));
  const { body } = await invoke(updateNode, 'update-node', {
    path: { publisherId: 'acme', nodeId: 'constructor' },
    body: {},
    headers: { authorization: bearer('olga') },
  });

  expect(messages).toBe(1);
  expect(Object.entries((await readCountedNodes(soon())).lastDays)).toContainEqual(['constructor', day]);
  const runs = lines('sweep');
  expect(runs.slice(-2)).toMatchObject(
    [1, 0].map((sweep_findings) => ({ sweep: 'downloads', sweep_findings })),
  );
  expect(await storedNode('constructor')).toMatchObject({ revision: Number(before?.revision) + 1 });
  expect(body.downloads).toBe(7);
  expect(JSON.parse(String(file?.text))).toMatchObject({
    downloads: 7,
    downloads_90_days: 7,
    latest_version: { downloads: 7 },
    versions: [{ version: '1.0.0', downloads: 7 }],
  });
});

test('takes the 90 days of a node without further downloads out of the index, even if a run died before', async () => {
  const context = soon();
  const old = dayBefore(90);
  await addNode('acme', 'faded');
  await addVersion('acme', 'faded', '1.0.0', { sha256: 'a'.repeat(64) });
  const numbers = { before: { '1.0.0': 5 }, days: { [old]: 5 } };
  await changeNumbers(context, 'faded', (record) => ({ ...record, ...numbers }));
  await refreshNode(context, 'faded', 'all');
  await writeCountedNodes(context, { ended: new Date().toISOString(), lastDays: { faded: old } });
  const remove = intercept(dynamodb, async ({ send, command }) => {
    const output = await send();
    if (command === 'PutItemCommand') throw new Error('killed');
    return output;
  });
  await expect(handler(schedule, invocation)).rejects.toThrow();
  remove();
  await handler(schedule, invocation);
  await drainQueue(indexChanges, writeIndex as QueueHandler);
  const [file, { lastDays }] = [await readText(context, nodePath('faded')), await readCountedNodes(context)];

  expect(JSON.parse(String(file?.text))).toMatchObject({ downloads: 5, downloads_90_days: 0 });
  expect(lastDays).not.toHaveProperty('faded');
});

test('the numbers of a node keep a version’s sum and forget days after 90, whenever they are added up', () => {
  const start = Date.parse('2026-01-01T04:00:00Z');
  let record: Parameters<typeof withCounts>[0] = { pk: '', sk: '', revision: 1 };
  for (let passed = 0; passed < 120; passed += 3) {
    const now = start + passed * 86_400_000;
    const days = [0, 1, 2, 3, 4, 5, 6, 7].map(
      (age) => [dayBefore(age, now), new Map([['1.0.0', 2]])] as const,
    );
    record = withCounts(record, new Map(days), now);
  }
  const now = start + 117 * 86_400_000;

  expect(numbersOf(record, now)).toEqual({
    downloads: 2 * 125,
    downloads_90_days: 180,
    versions: { '1.0.0': 250 },
    downloads_by_day: expect.objectContaining({ [dayBefore(89, now)]: 2, [dayBefore(0, now)]: 2 }),
  });
});
