import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { handler } from '../../functions/write-catalog.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import { publisherKey } from '../../lib/store/keys.ts';
import { keysBelow, readObject } from '../support/bucket-objects.ts';
import { intercept } from '../support/intercept.ts';
import { addFollowedNode, follow, own, page as text } from '../support/index-nodes.ts';
import { addPublisher } from '../support/registry.ts';
import { setVariables } from '../support/variables.ts';
import '../support/in-order.ts';
import { admin } from '../support/admin.ts';

const invocation = { awsRequestId: 'a-run', getRemainingTimeInMillis: () => 50_000 };
const event = JSON.parse(readFileSync('events/write-catalog.json', 'utf8'));
// For each node, a busy machine follows several files.
jest.setTimeout(60_000);

/** What a run wrote, with one key for all pieces of the search. */
async function run(): Promise<string[]> {
  const written: string[] = [];
  const stop = intercept(s3(), ({ command, input, send }) => {
    if (command === 'PutObjectCommand') written.push(String(input.Key));
    return send();
  });
  await handler(event, invocation);
  stop();
  return [...new Set(written.map((key) => key.replace(/search\/\d+\.json/, 'search/')))].sort();
}

const lists = ['feed.xml', 'home.html', 'nodes.html', 'robots.txt', 'search/', 'sitemap.xml'].map(
  (name) => `pages/${name}`,
);

beforeAll(async () => {
  setVariables({ SITE_URL: 'https://nodes.example' });
  for (const id of ['acme', 'other']) await addPublisher(id, {});
  await follow(publisherKey('acme'));
  await addFollowedNode('plain', 'acme');
  await addFollowedNode('ranked', 'acme', { search_ranking: 3 });
  await addFollowedNode('bad', 'other');
});

describe('writeCatalog', () => {
  test('writes the most used nodes, the pages of publishers, the feed and the sitemap', async () => {
    expect(await run()).toEqual(
      ['index/v1/top.json', ...lists, 'pages/publishers/acme.html', 'pages/publishers/other.html'].sort(),
    );
    const { nodes } = JSON.parse(await text('index/v1/top.json'));
    expect(nodes.map(({ id }: { id: string }) => id)).toEqual(['ranked', 'bad', 'plain']);
    expect(await text('pages/robots.txt')).toContain('Sitemap: https://nodes.example/sitemap.xml');
    expect((await readObject('pages/feed.xml')).headers.ContentType).toBe(
      'application/atom+xml; charset=utf-8',
    );
    expect(await text('pages/publishers/acme.html')).toMatch(/Node ranked[\s\S]*Node plain/);
  });

  test('writes nothing until a line of the catalog changes, and then only what differs', async () => {
    expect(await run()).toEqual([]);
    await addFollowedNode('newer', 'acme');

    expect(await run()).toEqual(
      [
        'index/v1/top.json',
        ...lists.filter((key) => !key.endsWith('.txt')),
        'pages/publishers/acme.html',
      ].sort(),
    );
  });

  test('takes a banned node off all of them, and says so on an empty page of its publisher', async () => {
    await admin('node', 'ban', 'bad', '--reason', 'test');
    await follow(...own('bad'));
    await run();

    for (const key of ['index/v1/top.json', ...(await keysBelow('pages/'))].filter((key) => !/bad/.test(key)))
      expect(await text(key)).not.toMatch(/"bad"|nodes\/bad/);
    expect(await text('pages/publishers/other.html')).toContain('<meta name="robots" content="noindex">');
    expect(await run()).toEqual([]);
  });

  test.each([
    ['GetObject', 1],
    ['ListObjectsV2', 1],
    ['ListObjectsV2', 2],
    ['PutObject', 1],
  ])('has all nodes if another run comes before its %s %i', async (name, place) => {
    const [raced, rival] = [`raced-${name}-${place}`, `rival-${name}-${place}`];
    await addFollowedNode(raced, 'acme');
    let calls = 0;
    intercept(s3(), async ({ command, send }) => {
      if (command === `${name}Command` && ++calls === place) {
        await addFollowedNode(rival, 'acme');
        await handler(event, invocation);
      }
      return send();
    });
    await run();
    await run();

    for (const key of ['pages/sitemap.xml', 'index/v1/top.json'])
      for (const id of [raced, rival]) expect((await text(key)).toLowerCase()).toContain(id.toLowerCase());
    expect(await run()).toEqual([]);
  });

  test('writes neither feed nor sitemap without a name of the site', async () => {
    setVariables({ SITE_URL: '' });
    const written = await run();

    expect(written).toContain('index/v1/top.json');
    expect(written.filter((key) => /xml|txt/.test(key))).toEqual([]);
    expect(await keysBelow('pages/publishers/')).toHaveLength(2);
  });
});
