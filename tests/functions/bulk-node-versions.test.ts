import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { handler } from '../../functions/bulk-node-versions.ts';
import { bulkNodeVersions } from '../../lib/contracts/bulk-node-versions.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { intercept } from '../support/intercept.ts';
import { lines } from '../support/logged-lines.ts';
import { invoke, sampleEvent } from '../support/invoke.ts';
import { addNode, addVersion, countRequests } from '../support/registry.ts';

jest.setTimeout(60_000);

interface Pair {
  node_id: string;
  version: string;
}

function fetchAll(pairs: unknown, remainingMs = 29_000) {
  return invoke(handler, 'bulk-node-versions', { body: { node_versions: pairs }, remainingMs });
}

const json = 'application/json';
const statusesIn = (body: { node_versions: { status: string }[] }) =>
  body.node_versions.map(({ status }) => status);

function pairsOf(count: number): Pair[] {
  return Array.from({ length: count }, (_, index) => ({ node_id: `node-${index}`, version: '1.0.0' }));
}

beforeAll(async () => {
  await addVersion('acme', 'Tool', '1.0.0', {
    changelog: 'first',
    downloadUrl: 'https://example.com/tool.zip',
    tags_admin: ['seen'],
  });
  for (let index = 0; index < 1000; index += 50) {
    await Promise.all(
      pairsOf(1000)
        .slice(index, index + 50)
        .map((pair) => addVersion('acme', pair.node_id, pair.version)),
    );
  }
});

describe('POST /bulk/nodes/versions', () => {
  describe('200', () => {
    test('answers each pair in order with its identifier as sent, including duplicates', async () => {
      const pairs = [
        { node_id: 'tool', version: 'v1.0' },
        { node_id: 'nothing', version: '1.0.0' },
        { node_id: 'Tool', version: '1.0.0' },
        { node_id: 'tool', version: 'v1.0' },
        { node_id: 'node-0', version: '1.0.0' },
        // No node has this id: it only shares the other one's key.
        { node_id: 'node_0', version: '1.0.0' },
        { node_id: 'x'.repeat(200), version: '1.0.0' },
      ];
      const { status, body } = await fetchAll(pairs);

      expect(status).toBe(200);
      expect(bulkNodeVersions.reply.parse(body)).toEqual(body);
      expect(body.node_versions.map(({ identifier }: { identifier: Pair }) => identifier)).toEqual(pairs);
      const statuses = ['success', 'not_found', 'success', 'success', 'success', 'not_found', 'not_found'];
      expect(statusesIn(body)).toEqual(statuses);
      expect(body.node_versions[0].node_version).toMatchObject({
        id: 'Tool-1.0.0',
        node_id: 'Tool',
        version: '1.0.0',
        status: 'NodeVersionStatusActive',
        changelog: 'first',
        downloadUrl: 'https://example.com/tool.zip',
      });
      expect(body.node_versions[0].node_version).not.toHaveProperty('tags_admin');
    });

    test.each<[object, string]>([
      [{}, 'The version must be a semantic version'],
      [{ node_id: 'x'.repeat(201), version: '1.0.0' }, 'The node_id must have 1 to 200 characters.'],
      [{ node_id: 'tool', version: `1.0.0-${'a'.repeat(59)}` }, 'The version must have at most 64'],
      [{ node_id: null, version: null }, 'The version must be a semantic version'],
      [{ node_id: 'tool', version: 1 }, 'The version must be text'],
      [{ node_id: ['tool'], version: '1.0.0' }, 'The node_id must be text'],
      [{ version: '1.0.0' }, 'The node_id must have 1 to'],
    ])('answers in the entry of the odd pair %j: %s', async (identifier, message) => {
      const { body } = await fetchAll([identifier, { node_id: 'tool', version: '1.0.0' }]);

      const error_message = expect.stringContaining(message);
      expect(body.node_versions[0]).toEqual({ identifier, status: 'error', error_message });
      expect(body.node_versions[1].status).toBe('success');
    });

    test('includes the versions of a deleted node with their downloads, because others depend on them', async () => {
      await addNode('acme', 'Gone', { status: 'NodeStatusDeleted' });
      await addVersion('acme', 'Gone', '1.0.0', { archive_key: 'archives/a.zip' });
      const { body } = await fetchAll([{ node_id: 'Gone', version: '1.0.0' }]);

      const downloadUrl = expect.stringContaining('archives/a.zip');
      const node_version = { status: 'NodeVersionStatusActive', downloadUrl };
      expect(body.node_versions).toMatchObject([{ status: 'success', node_version }]);
    });

    test('answers a thousand pairs with ten batches: one first, and then nine at the same time', async () => {
      let inFlight = 0;
      let maxInFlight = 0;
      intercept(dynamodb, async ({ send }) => {
        inFlight += 1;
        maxInFlight = Math.max(maxInFlight, inFlight);
        const output = await send();
        inFlight -= 1;
        return output;
      });
      const { result, requests } = await countRequests(() => fetchAll(pairsOf(1000)));

      expect(new Set(statusesIn(result.body))).toEqual(new Set(['success']));
      expect(requests).toEqual(Array(10).fill('BatchGetItemCommand'));
      expect(maxInFlight).toBe(9);
    });

    test('answers an error_message for keys that the store did not return by the deadline, and answers the others', async () => {
      leaveOut((key) => key.includes('NODE#node-7'));
      const { status, body } = await fetchAll(pairsOf(10), 1500);

      expect(status).toBe(200);
      expect(lines().at(-1)).toMatchObject({ unread_pairs: 1, reason: 'DynamoDB BatchGetItem: throttled' });
      const error_message = expect.stringContaining('overloaded');
      expect(body.node_versions[7]).toMatchObject({ status: 'error', error_message });
      expect(statusesIn(body).filter((each) => each === 'success')).toHaveLength(9);
    });

    test('shortens an answer above 6 MB entry by entry', async () => {
      // The answer has less than 6 MB, but more once its quotes are escaped.
      const long = 'say "hello"\\ '.repeat(8000);
      const ids = Array.from({ length: 45 }, (_, index) => `long-${index}`);
      await Promise.all(ids.map((id) => addVersion('acme', id, '1.0.0', { changelog: long })));
      const { status, text, body } = await fetchAll([
        ...ids.map((node_id) => ({ node_id, version: '1.0.0' })),
        ...pairsOf(20),
      ]);

      expect(status).toBe(200);
      expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(6 * 1024 * 1024);
      const states = statusesIn(body);
      expect(states.filter((state) => state === 'error').length).toBeGreaterThan(5);
      expect(states.slice(0, 20)).toEqual(Array(20).fill('success'));
      expect(states).toHaveLength(65);
      expect(body.node_versions[states.indexOf('error')].error_message).toContain('too large');
    });
  });

  test('answers 503 if the store returned no version of any batch', async () => {
    leaveOut(() => true);
    const { status, body } = await fetchAll(pairsOf(200), 1500);

    expect([status, body.error]).toEqual([503, 'unavailable']);
  });

  describe('400 for the whole request', () => {
    test.each([
      [pairsOf(1001), 'body.node_versions', 'must have at most 1000 items'],
      [undefined, 'body.node_versions', 'is required'],
      [['x'], 'body.node_versions.0', 'must be an object'],
    ])('rejects other lists (%#)', async (pairs, path, message) => {
      const { status, body } = await fetchAll(pairs);

      expect([status, body.details]).toEqual([400, [{ path, message }]]);
    });

    test('rejects pairs that are too long to be repeated in the answer', async () => {
      const pairs = Array.from({ length: 4 }, () => ({ node_id: '"'.repeat(700_000), version: '1.0.0' }));
      const { status, body, text } = await fetchAll(pairs);

      const message = 'must be short enough to be repeated in an answer of 6 MB';
      expect([status, body.details]).toEqual([400, [{ path: 'body.node_versions', message }]]);
      expect(text.length).toBeLessThan(1000);
    });
  });

  describe('Accept-Encoding', () => {
    const pairs = Array.from({ length: 20 }, (_, index) => ({ node_id: `many-${index}`, version: '1.0.0' }));
    const ask = (encoding: string | undefined, node_versions: object[] = pairs) => {
      const headers = { 'accept-encoding': encoding };
      const event = {
        ...sampleEvent('bulk-node-versions'),
        headers,
        body: JSON.stringify({ node_versions }),
      };
      return handler(event, {} as never);
    };

    test.each(['GZIP', 'br, gzip', 'deflate , gzip ; q=1.0'])('answers as gzip to %j', async (encoding) => {
      const answer = await ask(encoding);
      const plain = await ask(undefined);

      const headers = { 'content-encoding': 'gzip', vary: 'accept-encoding', 'content-type': json };
      expect(answer).toMatchObject({ isBase64Encoded: true, headers });
      expect(gunzipSync(Buffer.from(answer.body, 'base64')).toString()).toBe(plain.body);
    });

    test.each([undefined, 'br', 'gzip; q=0.000', 'x-gzip'])('answers as text to %j', async (encoding) => {
      const answer = await ask(encoding);

      expect(answer.headers).toMatchObject({ vary: 'accept-encoding' });
      expect(answer).not.toHaveProperty('isBase64Encoded');
      expect(JSON.parse(answer.body).node_versions).toHaveLength(20);
    });

    test('answers a small body as text', async () => {
      expect(await ask('gzip', pairs.slice(0, 1))).not.toHaveProperty('isBase64Encoded');
    });
  });
});

/** Moves chosen keys of every batch to UnprocessedKeys before they leave, as a throttled table does. */
function leaveOut(isLeftOut: (key: string, index: number) => boolean): void {
  intercept(dynamodb, async ({ input, send }) => {
    const { RequestItems } = input as { RequestItems: Record<string, { Keys: object[] }> };
    const [table = '', request] = Object.entries(RequestItems)[0] ?? [];
    const keys = request?.Keys ?? [];
    const left = keys.filter((key, index) => isLeftOut(JSON.stringify(key), index));
    const kept = keys.filter((key) => !left.includes(key));
    const UnprocessedKeys = { [table]: { Keys: left } };
    if (kept.length === 0) return { Responses: {}, UnprocessedKeys };
    Object.assign(RequestItems, { [table]: { ...request, Keys: kept } });
    const output = await send();
    return { ...output, ...(left.length > 0 && { UnprocessedKeys }) };
  });
}
