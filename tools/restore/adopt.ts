// npm run adopt -- --secret ARN
import { readFile, writeFile } from 'node:fs/promises';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import type { Resource, Template } from '../../infra/plugins/framework.ts';
import { templateIn } from '../../infra/plugins/packages.ts';

/*
 * What a removed stage leaves, and how CloudFormation's import finds each in the account. The imported stack has
 * only these; the next deployment adds the rest.
 */
const identifiers: Record<string, (properties: Record<string, unknown>, secretArn: string) => object> = {
  Table: ({ TableName }) => ({ TableName }),
  S3BucketArchives: ({ BucketName }) => ({ BucketName }),
  AccessLogs: ({ BucketName }) => ({ BucketName }),
  NotificationSigningKey: (_, Id) => ({ Id }),
};

/** They refer to resources that the import can't create. */
const added = ['NotificationConfiguration', 'LoggingConfiguration'];

/** The template and the list for `create-change-set --change-set-type IMPORT`, of a packaged stage. */
export function adoptionOf(packaged: Template, secretArn = '') {
  const kept = Object.entries(identifiers).flatMap(([id, identify]) => {
    const resource = packaged.Resources[id];
    return resource ? [{ id, resource, identify }] : [];
  });
  if (secretArn === '' && 'NotificationSigningKey' in packaged.Resources)
    throw new Error('The stage has a NotificationSigningKey: give its ARN with --secret.');
  const Resources = Object.fromEntries(kept.map(({ id, resource }) => [id, alone(resource)]));
  return {
    // The parameters of the packaged stage, for --same.
    template: { ...(packaged.Metadata && { Metadata: packaged.Metadata }), Resources },
    resources: kept.map(({ id, resource: { Type, Properties }, identify }) => ({
      ResourceType: Type,
      LogicalResourceId: id,
      ResourceIdentifier: identify(Properties, secretArn),
    })),
  };
}

function alone({ DependsOn: _, Properties, ...resource }: Resource): Resource {
  const own = Object.entries(Properties).filter(([name]) => !added.includes(name));
  return { ...resource, Properties: Object.fromEntries(own) };
}

if (import.meta.main) {
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
}
