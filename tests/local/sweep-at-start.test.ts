import { beforeAll, expect, test } from '@jest/globals';
import { seed } from '../../tools/local/seed.ts';
import { handler as extract } from '../../functions/extract-host-nodes.ts';
import { drainQueue } from '../../tools/local/consume-queue.ts';
import { sweepAtStart } from '../../tools/local/sweep-at-start.ts';
import { extractions } from '../support/queue.ts';
import { finalize, publish, put, storedVersion } from '../support/uploads.ts';
import { zip } from 'testing/zip';

const archive = zip([{ name: '__init__.py', data: 'NODE_CLASS_MAPPINGS = {"A": type("A", (), {})}' }]);

beforeAll(async () => {
  await seed();
});

const extractStatus = async (nodeId: string) =>
  (await storedVersion(nodeId, '1.0.0')).host_node_extract_status;

test('finishes uploads and extractions that an earlier stack was killed in', async () => {
  const uploaded = await publish('killed-before-finalizing', '1.0.0');
  await put(uploaded, archive);
  const finalized = await publish('killed-before-extracting', '1.0.0');
  await put(finalized, archive);
  await finalize(finalized);
  const start = Date.now() + 1;
  while (Date.now() <= start) await new Promise((resolve) => setTimeout(resolve, 1));
  const newer = await publish('newer', '1.0.0');
  await put(newer, archive);
  await finalize(newer);
  const said: string[] = [];
  await sweepAtStart(start, (sentence) => said.push(sentence));

  expect(said).toContain(
    'The upload of killed-before-finalizing 1.0.0 was left over by an earlier start: published.',
  );
  expect(said.join()).not.toContain('newer');
  extractions.skip(5000);
  await drainQueue(extractions, extract);
  expect(await extractStatus('killed-before-extracting')).toBe('success');
});
