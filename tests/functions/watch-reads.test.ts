import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/watch-reads.ts';
import { downloadUrl } from '../../lib/bucket/object-keys.ts';
import { countDownloads } from '../../lib/downloads/count-files.ts';
import { readObject } from '../support/bucket-objects.ts';
import { lines } from '../support/logged-lines.ts';
import { serve } from '../support/serve.ts';
import { setVariables } from '../support/variables.ts';
import '../support/in-order.ts';

const event = JSON.parse(readFileSync('events/watch-reads.json', 'utf8'));
const run = () => handler(event, { awsRequestId: 'a-run', getRemainingTimeInMillis: () => 29_000 });
const kinds = ['archives', 'index', 'status', 'pages'];

/** The kinds that the bucket's policy denies to the distribution. */
let denied: string[] = [];
let bucketUrl: string;

const distribution = await serve(async (request, response) => {
  const [, kind = ''] = String(request.url).split('/');
  const reply = await fetch(`${bucketUrl}${request.url}`);
  const status = denied.includes(kind) ? 403 : reply.status;
  response.writeHead(status).end(await reply.text());
});

beforeAll(() => {
  bucketUrl = downloadUrl('').replace(/\/$/, '');
  setVariables({
    DOWNLOAD_BASE_URL: distribution.url,
    WATCHED_SITE_URL: distribution.url,
    METRICS_NAMESPACE: 'node-registry/prod',
  });
});

beforeEach(() => {
  denied = [];
});

describe('watchReads', () => {
  test('writes what it reads in a new stage, for no cache, and reads it the next time', async () => {
    await run();
    await run();

    expect(lines('reads').map(({ failed_reads }) => failed_reads)).toEqual([4, 0]);
    for (const kind of kinds)
      expect((await readObject(`${kind}/-watched`)).headers.CacheControl).toBe('no-store');
  });

  test.each(kinds)('reports %s as soon as the policy of the bucket denies it to readers', async (kind) => {
    denied = [kind];
    await run();

    expect(lines('reads')).toEqual([
      expect.objectContaining({ level: 'error', failed: [{ kind, status: 403 }], failed_reads: 1 }),
    ]);
    expect(lines('reads')[0]._aws.CloudWatchMetrics[0]).toMatchObject({
      Namespace: 'node-registry/prod',
      Metrics: [{ Name: 'failed_reads', Unit: 'Count' }],
      Dimensions: [[]],
    });
  });

  test('reports everything if no one answers, and leaves out the pages of a stage without a site', async () => {
    setVariables({ DOWNLOAD_BASE_URL: 'http://127.0.0.1:1', WATCHED_SITE_URL: '' });
    await run();
    setVariables({ DOWNLOAD_BASE_URL: distribution.url });
    await run();

    expect(lines('reads').map(({ failed }) => failed.map(({ kind }: { kind: string }) => kind))).toEqual([
      ['archives', 'index', 'status'],
      [],
    ]);
  });

  test('counts as no download', () => {
    const fields =
      '#Fields: date cs-method cs-uri-stem sc-status cs(User-Agent) sc-range-start sc-content-len sc-bytes';

    expect(countDownloads(`${fields}\n2026-11-27\tGET\t/archives/-watched\t200\t-\t-\t9\t9\n`).size).toBe(0);
  });
});
