import type { Framework, Template } from './framework.ts';
import { type Part, referencesOf } from './references.ts';

/*
 * An alarm on work that must run breaches while there is no data, and a new stage has none. So its actions begin off, and
 * its first deployment runs everything that has a schedule once, and then switches them on.
 */

function mustRun(template: Template): string[] {
  return Object.values(template.Resources)
    .filter(
      ({ Type, Properties }) =>
        Type === 'AWS::CloudWatch::Alarm' && Properties.TreatMissingData === 'breaching',
    )
    .map(({ Properties }) => String(Properties.AlarmName));
}

export function silenceFirst(template: Template): void {
  const names = mustRun(template);
  for (const { Properties } of Object.values(template.Resources))
    if (names.includes(String(Properties?.AlarmName))) Properties.ActionsEnabled = false;
}

export async function runFirst(framework: Framework): Promise<void> {
  const { service } = framework;
  const provider = framework.getProvider('aws');
  const settings = await provider.getAwsSdkV3Config();
  // Every command of the framework loads this file, and only a first deployment needs these.
  const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
  const { CloudWatchClient, EnableAlarmActionsCommand } = await import('@aws-sdk/client-cloudwatch');
  const template = service.provider.compiledCloudFormationTemplate;
  const lambda = new LambdaClient(settings);
  for (const { Type, Properties } of Object.values(template.Resources)) {
    if (Type !== 'AWS::Events::Rule') continue;
    for (const { Arn, Input = '{"source":"aws.events"}' } of Properties.Targets as Part[]) {
      const [id = ''] = referencesOf(Arn);
      const FunctionName = String(template.Resources[id]?.Properties.FunctionName);
      const event = { FunctionName, InvocationType: 'Event', Payload: Buffer.from(Input) } as const;
      await lambda.send(new InvokeCommand(event));
    }
  }
  const AlarmNames = mustRun(template);
  await new CloudWatchClient(settings).send(new EnableAlarmActionsCommand({ AlarmNames }));
}
