import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import * as keys from '../../lib/store/keys.ts';
import { reviewedFile } from '../../tools/documents/template.ts';
import { followTable, streamRecord } from '../../tools/local/follow-table.ts';

const written = (pk: string, sk: string) => ({ pk: { S: pk }, sk: { S: sk } });

/** By the filter of the deployed stream. */
function isFollowed({ sk }: keys.Key): boolean {
  const { Resources } = JSON.parse(readFileSync(reviewedFile, 'utf8')).default;
  const [{ Pattern }] = Resources.WriteIndexEventSourceMappingDynamodbTable.Properties.FilterCriteria.Filters;
  const { S }: { S: (string | { prefix: string })[] } = JSON.parse(Pattern).dynamodb.Keys.sk;
  return S.some((each) => (typeof each === 'string' ? each === sk : sk.startsWith(each.prefix)));
}

describe('the local stream of the table', () => {
  test('passes on what the index follows, as that of the stage does, and nothing else', () => {
    const bans = keys.hostNodeBansKey('a');
    const entries = [keys.nodeVersionKey('a', '1.0.0'), bans, keys.hostNodeKey('a', '1.0.0', 'Load it')];
    const shown = [keys.nodeKey('a'), ...entries, keys.publisherKey('p'), keys.heartbeatKey];
    const all = [keys.accountKey('x'), keys.historyKey(bans, 'OWNERS', 'now', 'x'), ...shown];

    expect(all.filter(isFollowed)).toEqual(shown);
    expect(all.filter(({ pk, sk }) => streamRecord(written(pk, sk), 0))).toEqual(shown);
  });

  test('repeats a batch that failed, before the next one', async () => {
    const lengths: number[] = [];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const follow = followTable(async () => async ({ Records }) => {
      lengths.push(Records.length);
      if (lengths.length === 3) resolve();
      return { batchItemFailures: lengths.length === 1 ? [{ itemIdentifier: '1' }] : [] };
    });
    for (let index = 0; index < 501; index += 1) follow(written(`NODE#${index}`, 'NODE'));
    await done;

    expect(lengths).toEqual([500, 500, 1]);
  });
});
