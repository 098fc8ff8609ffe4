import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Part } from '../../infra/plugins/references.ts';
import { packagedStage, type Template } from './packaging.ts';
import { lossesBetween } from '../../infra/plugins/template-changes.ts';

let now: Template;

beforeAll(async () => {
  now = (await packagedStage('full')).template;
});

describe('an upgrade of a stage', () => {
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
      'NotificationSigningKey is replaced: GenerateSecretString changed',
      ({ NotificationSigningKey: key }) => (key.Properties.GenerateSecretString.PasswordLength = 32),
    ],
    [
      'IndexChanges is replaced: FifoQueue changed',
      ({ IndexChanges }) => (IndexChanges.Properties.FifoQueue = true),
    ],
  ])('fails by name: %s', (loss, change) => {
    const changed = structuredClone(now);
    change(changed.Resources);

    expect(lossesBetween(now, changed)).toEqual([loss]);
  });

  test('accepts one more index', () => {
    const changed = structuredClone(now);
    const { GlobalSecondaryIndexes } = changed.Resources.Table?.Properties ?? {};
    GlobalSecondaryIndexes.push({ ...GlobalSecondaryIndexes[0], IndexName: 'another' });

    expect(lossesBetween(now, changed)).toEqual([]);
  });
});
