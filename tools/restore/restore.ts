// npm run restore -- --from COPY --to TABLE
import { setTimeout as pause } from 'node:timers/promises';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { restoreTable } from './restore-table.ts';

interface Options {
  from: string;
  to: string;
  region: string;
}

const command = createCommand({
  name: 'npm run restore --',
  summary: 'Gives the table of a stage the records of a restored copy; later writes are lost',
  notes: 'It runs with your AWS credentials. After an error, run the same command again.',
  examples: ['--from node-registry-prod-restored --to node-registry-prod --region us-east-1'],
})
  .requiredOption('--from <TABLE>', 'The copy, from point-in-time recovery')
  .requiredOption('--to <TABLE>', 'The table whose records are replaced. Its stack has the same name')
  .requiredOption('--region <REGION>', 'Their region')
  .action(async ({ from, to, region }: Options) => {
    const aws = {
      // The table's ceiling throttles.
      dynamodb: new DynamoDBClient({ region, maxAttempts: 10 }),
      lambda: new LambdaClient({ region }),
      cloudformation: new CloudFormationClient({ region }),
      pause,
    };
    const print = (line: string) => process.stdout.write(`${line}\n`);
    await restoreTable(aws, { table: to, copy: from, print });
  });

await runProgram(command);
