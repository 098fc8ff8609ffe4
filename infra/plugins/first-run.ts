import { setTimeout as wait } from 'node:timers/promises';
import type { Framework, Template } from './framework.ts';
import { type Part, referencesOf } from './references.ts';

/*
 * An alarm on work that must run breaches while data is missing, and a new alarm has no data yet. So its actions begin off.
 * The deployment runs everything that has a schedule once, and then switches them on.
 */

/** Silences such alarms that the deployed stage does not have. Returns them and those that its last deployment silenced. */
export function silence(template: Template, deployed: Template): string[] {
  return Object.entries(template.Resources).flatMap(([id, { Type, Properties }]) => {
    const known = deployed.Resources[id];
    if (Type !== 'AWS::CloudWatch::Alarm' || Properties.TreatMissingData !== 'breaching') return [];
    if (known !== undefined && known.Properties.ActionsEnabled !== false) return [];
    if (known === undefined) Properties.ActionsEnabled = false;
    return [String(Properties.AlarmName)];
  });
}

export async function runFirst(
  framework: Framework,
  AlarmNames: string[],
  pause: (ms: number) => Promise<unknown> = wait,
): Promise<void> {
  const settings = await framework.getProvider('aws').getAwsSdkV3Config();
  // Every command of the framework loads this file, and few deployments need these.
  const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
  const { CloudWatchClient, DescribeAlarmsCommand, EnableAlarmActionsCommand, SetAlarmStateCommand } =
    await import('@aws-sdk/client-cloudwatch');
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
  const breaching = async () => {
    const { MetricAlarms = [] } = await cloudwatch.send(new DescribeAlarmsCommand({ AlarmNames }));
    return MetricAlarms.filter(({ StateValue }) => StateValue !== 'OK');
  };
  let left = await breaching();
  // The alarm that needs most is OK after five minutes of runs.
  for (let tries = 0; tries < 60 && left.length > 0; tries += 1) {
    await pause(10_000);
    left = await breaching();
  }
  await cloudwatch.send(new EnableAlarmActionsCommand({ AlarmNames }));
  // Only a change of state runs actions. The next evaluation is one for an alarm that still breaches.
  const reset = { StateValue: 'INSUFFICIENT_DATA', StateReason: 'Its actions are enabled.' } as const;
  for (const { AlarmName } of left) await cloudwatch.send(new SetAlarmStateCommand({ AlarmName, ...reset }));
}
