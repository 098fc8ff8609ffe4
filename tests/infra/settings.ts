import type { Part } from '../../infra/plugins/references.ts';
import { asText, plain } from './intrinsics.ts';
import { ofType, type Packaged } from './packaging.ts';

/** Roles are in statements.json, and of the rest each function has its own, alike, by its name. */
const listedElsewhere =
  /^AWS::(?:IAM::Role|CloudWatch::|Lambda::(?:Function|Version|Alias)|CodeDeploy::|Logs::|ApiGatewayV2::(?:Route|Integration)$)/;

const ofFunctions = /^(?:faults|internal-errors|slow)-/;

/** What a stage consists of, as tests/infra/stage.yml lists it. */
export function settingsOf(stage: Packaged) {
  const outputs = Object.entries(stage.template.Outputs).filter(([name]) => !name.endsWith('QualifiedArn'));
  return {
    resources: Object.fromEntries(
      listedResources(stage).map((id) => [id, settings(stage.template.Resources[id])]),
    ),
    outputs: Object.fromEntries(outputs.map(([name, { Value }]) => [name, asText(Value)])),
    functions: Object.fromEntries(ofType(stage, 'AWS::Lambda::Function').map(([, it]) => ownSettings(it))),
    variables: variablesOf(stage),
    alarms: Object.fromEntries(
      ofType(stage, 'AWS::CloudWatch::Alarm')
        .map(([, it]) => [it.AlarmName.replace('node-registry-prod-', ''), inWords(it)] as const)
        .filter(([name]) => !ofFunctions.test(name)),
    ),
    dashboard: JSON.parse(
      asText(ofType(stage, 'AWS::CloudWatch::Dashboard')[0]?.[1].DashboardBody),
    ).widgets.map(({ properties: { title, region, metrics, ...rest } }: Part) => ({
      title,
      ...rest,
      metrics,
    })),
  };
}

export function listedResources({ template }: Packaged): string[] {
  return Object.entries(template.Resources)
    .filter(([id, { Type }]) => !listedElsewhere.test(Type) && !/Permission(?:HttpApi|EventsRule)/.test(id))
    .map(([id]) => id);
}

/** The order of what is made has tests of its own. */
function settings({ Type: _, Properties, DependsOn: __, ...policies }: Part): Part {
  return plain({ ...Properties, ...policies });
}

function ownSettings({ FunctionName, MemorySize, Timeout, ReservedConcurrentExecutions }: Part) {
  const name = FunctionName.replace('node-registry-prod-', '');
  const reserved = ReservedConcurrentExecutions && { reserved: Number(ReservedConcurrentExecutions) };
  return [name, { MemorySize, Timeout, ...reserved }] as const;
}

/** Every function that has a variable has it with the same value. */
function variablesOf(stage: Packaged): Record<string, string> {
  const all = ofType(stage, 'AWS::Lambda::Function').flatMap(([, it]) =>
    Object.entries(it.Environment.Variables).map(([name, value]) => [name, asText(value)] as const),
  );
  const variables = Object.fromEntries(all);
  const other = all.find(([name, value]) => variables[name] !== value);
  if (other !== undefined) throw new Error(`A function has another ${other[0]}: ${other[1]}`);
  return variables;
}

const signs: Record<string, string> = { GreaterThanThreshold: '>', LessThanThreshold: '<' };

/** When an alarm fires, what it makes of periods without data, and the metrics that it looks at. */
export function inWords(alarm: Part): string {
  const { Metrics = [{ Expression: '' }, { MetricStat: { Metric: alarm, ...alarm } }] } = alarm;
  const [{ Expression }, ...metrics] = Metrics;
  const watched = metrics.map(({ Id, MetricStat: { Metric, Stat, Statistic, ExtendedStatistic } }: Part) => {
    const by = (Metric.Dimensions ?? []).map(({ Name, Value }: Part) => ` ${Name}=${asText(Value)}`);
    const metric = `${Stat ?? Statistic ?? ExtendedStatistic} of ${Metric.Namespace} ${Metric.MetricName}${by.join('')}`;
    return Id === undefined ? metric : `${Id} is ${metric}`;
  });
  const seconds = new Set(metrics.map(({ MetricStat }: Part) => MetricStat.Period));
  const { DatapointsToAlarm, EvaluationPeriods, Threshold, ComparisonOperator, TreatMissingData } = alarm;
  const bound = `${signs[ComparisonOperator]} ${Threshold} in ${DatapointsToAlarm} of ${EvaluationPeriods}`;
  const rule = `${bound} times ${[...seconds].join(' and ')} s, ${TreatMissingData}`;
  return Expression === '' ? `${watched} ${rule}` : [`${Expression} ${rule}`, ...watched].join('; ');
}
