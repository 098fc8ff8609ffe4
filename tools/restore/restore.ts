// npm run restore -- copy --to TIME | replace --confirm TABLE
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { createCommand, runCommand } from 'command-line/command';
import type { Aws } from './aws.ts';
import { copyTable, replaceTable, type Stage } from './restore-table.ts';

interface Options {
  stage: string;
  region: string;
  table?: string;
}

const command = createCommand({
  name: 'npm run restore --',
  summary: 'Restores the whole table of a stage to an earlier moment',
  notes:
    'It runs with your AWS credentials. Both commands can be repeated after an error: they continue after the last finished step.',
  examples: [
    'copy --to 2026-11-20T12:00:00Z --stage prod --region us-east-1',
    'replace --confirm node-registry-prod --stage prod --region us-east-1',
  ],
});

function subcommand(name: string, summary: string) {
  const added = createCommand({ name, summary })
    .requiredOption('--stage <NAME>', 'The stage')
    .requiredOption('--region <REGION>', 'Its region')
    .option('--table <NAME>', 'Its table, if it is not node-registry-<stage>');
  command.addCommand(added);
  return added;
}

subcommand('copy', 'Restores the data to another table, where you check it')
  .requiredOption('--to <TIME>', 'The moment, such as 2026-11-20T12:00:00Z')
  .action(({ to, ...options }: Options & { to: string }) =>
    copyTable(clientsOf(options), stageOf(options), to),
  );

subcommand('replace', 'Replaces the table with the copy; writes since that moment are lost')
  .requiredOption('--confirm <TABLE>', 'The name of the table that is deleted')
  .action(async ({ confirm, ...options }: Options & { confirm: string }) => {
    const stage = stageOf(options);
    if (confirm !== stage.table) throw new Error(`--confirm must be ${stage.table}.`);
    await replaceTable(clientsOf(options), stage);
  });

function clientsOf({ region }: Options): Aws {
  return {
    dynamodb: new DynamoDBClient({ region }),
    lambda: new LambdaClient({ region }),
    cloudformation: new CloudFormationClient({ region }),
    pause,
  };
}

function stageOf({ stage, table }: Options): Stage {
  const name = `node-registry-${stage}`;
  return {
    name,
    table: table ?? name,
    file: join(homedir(), `${name}-restore.json`),
    print: (line) => process.stdout.write(`${line}\n`),
  };
}

try {
  process.exitCode = await runCommand(command, process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
