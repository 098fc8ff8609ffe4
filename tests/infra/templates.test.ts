import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Part } from '../../infra/plugins/references.ts';
import { packagedStage, type Template } from './packaging.ts';
import { lossesBetween } from '../../infra/plugins/template-changes.ts';
import { surfaceOf, unsaidChanges } from '../../tools/release/release-rules.ts';
import {
  type RecordedRelease,
  readRecordedRelease,
  surfaceNow,
} from '../../tools/release/recorded-release.ts';

let before: RecordedRelease['templates'];
let last: RecordedRelease['surface'];
let now: Record<'direct' | 'full', Template>;

beforeAll(async () => {
  const [direct, full] = await Promise.all([packagedStage('direct'), packagedStage('full')]);
  now = { direct: direct.template, full: full.template };
  ({ templates: before, surface: last } = await readRecordedRelease());
});

describe('an upgrade of a stage', () => {
  test.each(['direct', 'full'] as const)('replaces and renames nothing that keeps something: %s', (set) => {
    expect(lossesBetween(before[set], now[set])).toEqual([]);
    // A rollback is an update too.
    expect(lossesBetween(now[set], before[set]).filter((loss) => !loss.includes('removed'))).toEqual([]);
  });

  test.each<[string, (resources: Part) => void]>([
    ['Table is replaced: TableName changed', ({ Table }) => (Table.Properties.TableName = 'other')],
    ['Table is replaced: KeySchema changed', ({ Table }) => Table.Properties.KeySchema.pop()],
    ['Table is not kept as before: DeletionPolicy changed', ({ Table }) => (Table.DeletionPolicy = 'Delete')],
    [
      'Table: the index pending is replaced',
      ({ Table }) => (Table.Properties.GlobalSecondaryIndexes[0].Projection.ProjectionType = 'ALL'),
    ],
    [
      'Table: the index pending is replaced',
      ({ Table }) =>
        Table.Properties.AttributeDefinitions.forEach((attribute: Part) => {
          if (attribute.AttributeName === 'pending_since') attribute.AttributeType = 'N';
        }),
    ],
    [
      'Table: 2 indexes change at once',
      ({ Table }) => {
        const [index] = Table.Properties.GlobalSecondaryIndexes;
        Table.Properties.GlobalSecondaryIndexes.push(
          { ...index, IndexName: 'a' },
          { ...index, IndexName: 'b' },
        );
      },
    ],
    [
      'S3BucketArchives is replaced: BucketName changed',
      ({ S3BucketArchives: { Properties } }) => (Properties.BucketName = 'other-archives'),
    ],
    [
      'NotificationSigningKey is replaced: GenerateSecretString changed',
      ({ NotificationSigningKey: key }) => (key.Properties.GenerateSecretString.PasswordLength = 32),
    ],
    [
      'Notifications is replaced: FifoQueue changed',
      ({ Notifications }) => (Notifications.Properties.FifoQueue = true),
    ],
    ['Downloads is removed or renamed', (resources) => delete resources.Downloads],
  ])('fails by name: %s', (loss, change) => {
    const changed = structuredClone(now.full);
    change(changed.Resources);

    expect(lossesBetween(before.full, changed)).toEqual([loss]);
  });

  test('says in the change log which names are gone, and which defaults, bounds and time-outs have changed', async () => {
    const surface = await surfaceNow(now.full);
    expect(unsaidChanges(last, surface, await readFile('docs/CHANGELOG.md', 'utf8'))).toEqual([]);

    const { rateLimit, SiteUrl, updateNode, ...kept } = surface;
    expect([rateLimit, SiteUrl, updateNode]).toEqual(['`200`', 'output', '29 s']);
    const { Resources } = structuredClone(now.full);
    Object.assign(Resources.BucketSizeAlarm?.Properties, { Threshold: 1 });
    Object.assign(Resources.ServerErrorsAlarm?.Properties, { DatapointsToAlarm: 1 });
    Object.assign(Resources.WriteIndexLambdaFunction?.Properties, { Timeout: 61 });
    const changed = { ...kept, ...surfaceOf({ ...now.full, Resources }, { bulkRateLimit: '`1`' }) };
    for (const name of ['node ban', 'updateNode', 'SiteUrl']) delete changed[name];
    expect(unsaidChanges(surface, changed, '## 3.1.0\n`SiteUrl` is gone.\n## 3.0.0\n`rateLimit`')).toEqual([
      'rateLimit is gone',
      'bulkRateLimit has changed: `20`, now `1`',
      'node ban is gone',
      expect.stringMatching(/^server-errors has changed: .* in 3 of 5 .*, now .* in 1 of 5 times 60 s$/),
      expect.stringMatching(
        /^bucket-size has changed: .*, now GreaterThanThreshold 1 in 1 of 2 times 86400 s$/,
      ),
      'updateNode is gone',
      'writeIndex has changed: 60 s, now 61 s',
    ]);
  });

  test('accepts one more index', () => {
    const changed = structuredClone(now.full);
    const { GlobalSecondaryIndexes } = changed.Resources.Table?.Properties ?? {};
    GlobalSecondaryIndexes.push({ ...GlobalSecondaryIndexes[0], IndexName: 'another' });

    expect(lossesBetween(before.full, changed)).toEqual([]);
  });
});
