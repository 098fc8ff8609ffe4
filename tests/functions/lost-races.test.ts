import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { startConflicts } from '../../tools/local/dynamodb-conflicts.ts';
import { invoke, sampleBody } from '../support/invoke.ts';

jest.setTimeout(60_000);

/** Real transactions take 10 to 30 ms; `lib` reads the address when it is loaded. */
let proxy: Awaited<ReturnType<typeof startConflicts>>;

beforeAll(async () => {
  proxy = await startConflicts(String(process.env.AWS_ENDPOINT_URL_DYNAMODB), { transactionMs: 20 });
  process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.url;
  await import('../support/patience.ts');
});

afterAll(() => proxy.stop());

describe('PUT /publishers/{publisherId}/nodes/{nodeId}', () => {
  test('succeeds when the update meets a publish of the same node', async () => {
    const [{ handler: update }, { handler: publish }, { addPublisher, addToken }] = await Promise.all([
      import('../../functions/update-node.ts'),
      import('../../functions/publish-node-version.ts'),
      import('../support/registry.ts'),
    ]);
    await addPublisher('demo', { 'demo-owner': 'owner' });
    const personal_access_token = await addToken('demo');
    const publishVersion = (version: string) =>
      invoke(publish, 'publish-node-version', {
        body: { ...sampleBody('publish-node-version'), node_version: { version }, personal_access_token },
      });
    const updateNode = () => invoke(update, 'update-node', { body: { author: 'A. Author' } });
    const first = await publishVersion('1.0.0');
    const statuses: number[] = [];
    for (let round = 1; round <= 10; round += 1) {
      const [published, ...updated] = await Promise.all([
        publishVersion(`2.0.${round}`),
        ...Array.from({ length: 5 }, updateNode),
      ]);
      statuses.push(Number(published?.status), ...updated.map(({ status }) => status));
    }

    expect(first.status).toBe(201);
    expect(statuses.filter((status) => status >= 400)).toEqual([]);
  });
});

describe('PUT /nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName}', () => {
  /** Updates 60 host nodes at the same time. Returns their statuses and the number of requests to the store. */
  async function updateAll(publishers: number) {
    const [{ handler }, { addNode, addPublisher, addVersion, countRequests }, { bearer }] = await Promise.all(
      [
        import('../../functions/update-host-node.ts'),
        import('../support/registry.ts'),
        import('../support/tokens.ts'),
      ],
    );
    const idOf = (index: number) => `many-${publishers}-${index % publishers}`;
    const add = async (id: string) => {
      await addPublisher(id, { olga: 'owner' });
      await addNode(id, id);
      await addVersion(id, id, '1.0.0');
    };
    await Promise.all(Array.from({ length: publishers }, (_, index) => add(idOf(index))));
    const update = async (index: number) => {
      const { status } = await invoke(handler, 'update-host-node', {
        path: { nodeId: idOf(index), version: '1.0.0', hostNodeName: `Node ${index}` },
        body: { category: 'raced' },
        headers: { authorization: bearer('olga') },
      });
      return status;
    };
    const all = () => Promise.all(Array.from({ length: 60 }, (_, index) => update(index)));
    const { result, requests } = await countRequests(all);
    return { statuses: new Set(result), requests: requests.length };
  }

  test('lets 60 concurrent updates of one publisher succeed, with no more requests than those of 60 publishers', async () => {
    const ofMany = await updateAll(60);
    const ofOne = await updateAll(1);

    expect([ofOne.statuses, ofMany.statuses]).toEqual([new Set([200]), new Set([200])]);
    expect(ofOne.requests).toBeLessThanOrEqual(ofMany.requests);
  });
});
