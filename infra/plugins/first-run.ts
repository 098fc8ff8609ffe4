import { setTimeout as wait } from 'node:timers/promises';
import type { Framework, Template } from './framework.ts';
import { type Part, referencesOf } from './references.ts';

/*
 * An alarm on work that must run breaches while data is missing, and a new alarm has no data yet. So its actions begin off.
 * The deployment runs everything that has a schedule once, and then switches them on.
 */

/** The names of such alarms that the deployed stage does not have. */
export function newAlarms(template: Template, deployed: Template): string[] {
  return Object.entries(template.Resources)
    .filter(
      ([id, { Type, Properties }]) =>
        Type === 'AWS::CloudWatch::Alarm' &&
        Properties.TreatMissingData === 'breaching' &&
        !(id in deployed.Resources),
    )
    .map(([, { Properties }]) => String(Properties.AlarmName));
}

export function silence(template: Template, names: readonly string[]): void {
  for (const { Properties } of Object.values(template.Resources))
    if (names.includes(String(Properties?.AlarmName))) Properties.ActionsEnabled = false;
}

export async function runFirst(framework: Framework, AlarmNames: string[]): Promise<void> {
  const settings = await framework.getProvider('aws').getAwsSdkV3Config();
  // Every command of the framework loads this file, and few deployments need these.
  const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
  const { CloudWatchClient, DescribeAlarmsCommand, EnableAlarmActionsCommand } = await import(
    '@aws-sdk/client-cloudwatch'
  );
  const { Resources } = framework.service.provider.compiledCloudFormationTemplate;
  const lambda = new LambdaClient(settings);
  for (const { Type, Properties } of Object.values(Resources)) {
    if (Type !== 'AWS::Events::Rule') continue;
    for (const { Arn, Input = '{"source":"aws.events"}' } of Properties.Targets as Part[]) {
      const [id = ''] = referencesOf(Arn);
      const FunctionName = String(Resources[id]?.Properties.FunctionName);
      const event = { FunctionName, InvocationType: 'Event', Payload: Buffer.from(Input) } as const;
      await lambda.send(new InvokeCommand(event));
    }
  }
  const cloudwatch = new CloudWatchClient(settings);
  // Actions are for changes of state: an alarm that breaches already, before its first data, sends nothing.
  const unknown = new DescribeAlarmsCommand({ AlarmNames, StateValue: 'INSUFFICIENT_DATA' });
  for (let tries = 0; tries < 30; tries += 1) {
    const { MetricAlarms = [] } = await cloudwatch.send(unknown);
    if (MetricAlarms.length === 0) break;
    await wait(10_000);
  }
  await cloudwatch.send(new EnableAlarmActionsCommand({ AlarmNames }));
}
