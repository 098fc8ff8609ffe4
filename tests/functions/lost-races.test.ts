import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startConflicts } from '../../tools/local/dynamodb-conflicts.ts';
import { invoke, sampleBody } from '../support/invoke.ts';

/** Real transactions take 10 to 30 ms; `lib` reads the address when it is loaded. */
let proxy: Awaited<ReturnType<typeof startConflicts>>;

beforeAll(async () => {
  proxy = await startConflicts(String(process.env.AWS_ENDPOINT_URL_DYNAMODB), { transactionMs: 20 });
  process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.url;
});

afterAll(() => proxy.stop());

describe('PUT /publishers/{publisherId}/nodes/{nodeId}', () => {
  test('an update that meets a publish of the same node succeeds', async () => {
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
        ...Array.from({ length: 15 }, updateNode),
      ]);
      statuses.push(Number(published?.status), ...updated.map(({ status }) => status));
    }

    expect(first.status).toBe(201);
    expect(statuses.filter((status) => status >= 400)).toEqual([]);
  }, 60_000);
});
