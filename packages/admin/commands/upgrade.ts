import { dynamodb, tableName } from '../../../lib/store/table.ts';
import { command } from '../command.ts';
import { release } from '../upgrade/release.ts';
import { steps, upgradeTable } from '../upgrade/steps.ts';

export const run = command({
  parameters: [],
  summary: 'Prepare the table for this release, before it is deployed',
  notes:
    'Does the steps of this release and names it in the table, which its deployment waits for. The release before goes on\nserving meanwhile and afterwards. Interrupted, it continues where it was when run again.',
  options: {
    'dry-run': { about: 'List the steps, and change nothing' },
    'written-by': {
      value: 'RELEASE',
      about:
        "The release that wrote a table which doesn't say it: only if its first deployment was interrupted",
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
      : `The table is of release ${data.to}.`;
    return { data, text: [...list, end].join('\n') };
  },
});
