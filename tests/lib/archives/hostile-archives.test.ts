import { afterAll, describe, expect, test } from '@jest/globals';
import { checkArchive } from 'registry-rules/archives/check-archive';
import { inMemory } from '../../support/archive-files.ts';
import { hostileArchives } from '../../support/hostile-archives.ts';

describe('checkArchive with a hostile archive', () => {
  test.each(hostileArchives)('rejects %s, and says why', async (_, archive, reason) => {
    const rejection = await checkArchive(inMemory(archive)).catch((error: unknown) => error);

    expect(rejection).toMatchObject({
      name: 'ArchiveProblem',
      message: expect.stringMatching(/^The archive was rejected: .*\. Then publish this version again\.$/),
    });
    expect(String(rejection)).toContain(reason);
  });

  test('rejects an archive above the maximum size without reading it', async () => {
    const gone = new Error('There is nothing to read.');
    const unreadable = (sizeBytes: number) => ({
      sizeBytes,
      read: () => Promise.reject(gone),
      stream: () => Promise.reject(gone),
    });
    await expect(checkArchive(unreadable(100_000_001))).rejects.toThrow(
      'it has 100000001 bytes, and 100000000 are allowed.',
    );
    await expect(checkArchive(unreadable(100_000_000))).rejects.toBe(gone);
  });

  afterAll(() => {
    const reasons = new Set(hostileArchives.map(([, , reason]) => reason.replace(/"[^"]*"/g, '…')));
    console.info(`${hostileArchives.length} hostile archives, ${reasons.size} different reasons`);
  });
});
