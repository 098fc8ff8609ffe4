import type { Values } from '../parameters/parameters.ts';
import type { Framework, Template } from './framework.ts';

/*
 * A deployment writes its parameters into the metadata of its template, so CloudFormation rolls both back
 * together. The next deployment compares its own with them before it sends anything. Secrets are references.
 */
const key = 'NodeRegistryParameters';

export function remember(template: Template, given: Values): void {
  template.Metadata = { ...template.Metadata, [key]: given };
}

/** The parameters that a stack was deployed with. A stack without functions was never deployed as a whole. */
export function rememberedIn({ Metadata, Resources }: Template): Values | 'none' | 'unknown' {
  const remembered = Metadata?.[key];
  if (remembered !== undefined) return remembered as Values;
  return Object.values(Resources).some(({ Type }) => Type === 'AWS::Lambda::Function') ? 'unknown' : 'none';
}

export function stackOf(framework: Framework): string {
  return `${framework.service.service}-${framework.getProvider('aws').getStage()}`;
}

/** The template of the stage's stack. Without resources before the first deployment. */
export async function deployedTemplate(framework: Framework): Promise<Template> {
  const { CloudFormationClient, GetTemplateCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient(await framework.getProvider('aws').getAwsSdkV3Config());
  const StackName = stackOf(framework);
  try {
    const { TemplateBody } = await client.send(new GetTemplateCommand({ StackName }));
    // It is empty if the first deployment stopped after its change set was created.
    return TemplateBody ? JSON.parse(TemplateBody) : { Resources: {}, Outputs: {} };
  } catch (error) {
    if (/^ValidationError: .*does not exist/.test(String(error))) return { Resources: {}, Outputs: {} };
    throw new framework.classes.Error(`The stack ${StackName} can't be read, so nothing was sent: ${error}`);
  }
}

/** The template of an earlier deployment, which the framework keeps, by its time. */
export async function earlierTemplate(framework: Framework, timestamp: string): Promise<Template> {
  const { GetObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const aws = framework.getProvider('aws');
  const client = new S3Client({ ...(await aws.getAwsSdkV3Config()), forcePathStyle: true });
  const date = new Date(/^\d+$/.test(timestamp) ? Number(timestamp) : timestamp);
  const folder = `${aws.getDeploymentPrefix()}/${framework.service.service}/${aws.getStage()}`;
  const Key = `${folder}/${date.getTime()}-${date.toISOString()}/compiled-cloudformation-template.json`;
  try {
    const { Body } = await client.send(
      new GetObjectCommand({ Bucket: await aws.getServerlessDeploymentBucketName(), Key }),
    );
    return JSON.parse(String(await Body?.transformToString()));
  } catch (error) {
    throw new framework.classes.Error(
      `The template of ${timestamp} can't be read, so nothing was sent: ${error}`,
    );
  }
}
