import type { Framework, Template } from './framework.ts';

export function stackOf(framework: Pick<Framework, 'service' | 'getProvider'>): string {
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
    const { name, message } = error as Error;
    if (name === 'ValidationError' && message.includes('does not exist'))
      return { Resources: {}, Outputs: {} };
    throw new framework.classes.Error(
      `The stack ${StackName} can't be read, so nothing was sent: ${name}: ${message}`,
    );
  }
}
