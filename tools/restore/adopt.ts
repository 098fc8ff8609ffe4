// npm run adopt -- --secret ARN
import { readFile, writeFile } from 'node:fs/promises';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { templateIn } from '../../infra/plugins/packages.ts';
import { adoptionOf } from './adoption.ts';

const command = createCommand({
  name: 'npm run adopt --',
  summary:
    'Writes adopt.json and adopt-resources.json, by which CloudFormation adopts what a removed stage left',
  notes: 'First package the stage with its parameters: npm run package. It needs no AWS credentials.',
  examples: ['--secret arn:aws:secretsmanager:us-east-1:123456789012:secret:NotificationSigningKey-AbCdEf'],
})
  .option('--secret <ARN>', 'The secret NotificationSigningKey of the removed stage')
  .action(async ({ secret }: { secret?: string }) => {
    const packaged = await readFile(templateIn('.serverless'), 'utf8').catch(() => {
      throw new Error('No stage is packaged here: run npm run package with its parameters first.');
    });
    const { template, resources } = adoptionOf(JSON.parse(packaged), secret);
    await writeFile('adopt.json', `${JSON.stringify(template, null, 2)}\n`);
    await writeFile('adopt-resources.json', `${JSON.stringify(resources, null, 2)}\n`);
    process.stdout.write(`Wrote adopt.json and adopt-resources.json, of ${resources.length} resources.\n`);
  });

await runProgram(command);
