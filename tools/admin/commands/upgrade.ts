import { dynamodb, tableName } from '../../../lib/store/table.ts';
import { command } from '../command.ts';
import { release } from '../../../infra/release.ts';
import { steps, upgradeTable } from '../upgrade/steps.ts';

export const run = command({
  parameters: [],
  summary: 'Prepare the table for this release, before it is deployed',
  notes:
    'Runs the steps of this release and records it in the table, which its deployment requires. The previous release keeps\nserving meanwhile and afterwards. If interrupted, run it again to continue.',
  options: {
    'dry-run': { about: 'List the steps, and change nothing' },
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
    const list = data.steps.map((name) => {
      const { summary } = steps.find((step) => step.name === name) ?? {};
      return `${dryRun ? 'to do' : 'done'}: ${name}: ${summary}`;
    });
    const end = dryRun
      ? `This release is ${release.name}. Nothing was changed.`
      : `The table is now at release ${data.to}.`;
    return { data, text: [...list, end].join('\n') };
  },
});
