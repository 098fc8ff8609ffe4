import { dynamodb, tableName } from '../../../lib/store/table.ts';
import { command } from '../command.ts';
import { release } from '../../../infra/release.ts';
import { upgradeTable } from '../upgrade.ts';

export const run = command({
  parameters: [],
  summary: 'Prepare the table for this release, before it is deployed',
  notes:
    'Records this release in the table, which its deployment requires. The previous release keeps serving meanwhile and\nafterwards. If interrupted, run it again.',
  options: {
    'dry-run': { about: 'Change nothing' },
    'written-by': {
      value: 'RELEASE',
      about:
        'The release that wrote a table without a release record: only if its first deployment was interrupted',
    },
  },
  examples: ['upgrade --dry-run', 'upgrade --region eu-west-1 --table node-registry-prod'],
  isDefault: true,
  async run(_, options, suggest) {
    const dryRun = options['dry-run'] ?? false;
    const table = { client: dynamodb, name: tableName() };
    const data = await upgradeTable(table, {
      dryRun,
      writtenBy: options['written-by'],
      command: suggest('upgrade'),
    });
    const text = dryRun
      ? `This release is ${release.name}. Nothing was changed.`
      : `The table is now at release ${data.to}.`;
    return { data, text };
  },
});
