/*
 * CloudWatch evaluates an alarm when data may still be on its way, and Lambda stamps an error with the time of the
 * invocation. So an alarm on events looks at more periods than it needs (M of N), and treats a period without data as one
 * without events (docs.aws.amazon.com: AmazonCloudWatch/latest/monitoring/alarm-evaluation.html, and
 * lambda/latest/dg/monitoring-metrics-types.html for Lambda's statistics).
 */

/** A resource of the template, or text. */
type Value = string | { Ref: string } | { 'Fn::GetAtt': [string, string] };

export interface Metric {
  namespace: string;
  name: string;
  statistic: 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'SampleCount' | 'p95';
  dimensions: Record<string, Value>;
}

export interface When {
  seconds: number;
  /** Fires if so many of so many periods are above a bound, or below it. */
  periods: readonly [breaching: number, of: number];
  above?: number;
  below?: number;
  /** Something leaves a line at each run, so a period without data breaches. A new alarm waits for its first data. */
  mustRun?: true;
  /** Keeps its state without data: a queue of dead letters that is left alone for six hours may have none. */
  isLasting?: true;
}

export interface Alarm extends When {
  name: string;
  /** What it means, where to look after "See", and what to do: its line in docs/runbook.md and its mail. */
  text: string;
  /** One metric, or several by their ids and the expression that makes one of them. */
  metric: Metric | { expression: string; metrics: Record<string, Metric> };
}

export function alarm(name: string, text: string, metric: Alarm['metric'], when: When): Alarm {
  return { name, text, metric, ...when };
}

export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export function ofLambda(name: string, statistic: Metric['statistic'], of: string): Metric {
  const dimensions = { FunctionName: { Ref: `${upperFirst(of)}LambdaFunction` } };
  return { namespace: 'AWS/Lambda', name, statistic, dimensions };
}

export function ofQueue(name: string, queue: string): Metric {
  const dimensions = { QueueName: { 'Fn::GetAtt': [queue, 'QueueName'] as [string, string] } };
  return { namespace: 'AWS/SQS', name, statistic: 'Maximum', dimensions };
}

/** A new stage has no schedule until its table is there, which comes last. Then they have the time of any other stage. */
const creationMinutes = 60;

/** The properties of an alarm's resource. */
export function alarmProperties(it: Alarm, prefix: string, topic: string | undefined) {
  const { metric, seconds, periods, above, below, mustRun, isLasting } = it;
  const [DatapointsToAlarm, EvaluationPeriods] = periods;
  return {
    AlarmName: `${prefix}-${it.name}`,
    AlarmDescription: descriptionOf(it.text, prefix),
    ...(topic && { AlarmActions: [topic], OKActions: [topic] }),
    TreatMissingData: mustRun ? 'breaching' : isLasting ? 'ignore' : 'notBreaching',
    ComparisonOperator: below === undefined ? 'GreaterThanThreshold' : 'LessThanThreshold',
    Threshold: below ?? above,
    ...{ DatapointsToAlarm, EvaluationPeriods },
    ...(mustRun && {
      WarmUpConfiguration: {
        WarmUpPeriodDurationInMinutes: (seconds * EvaluationPeriods) / 60 + creationMinutes,
      },
    }),
    ...('expression' in metric
      ? {
          Metrics: [
            { Id: 'result', Label: it.name, Expression: metric.expression },
            ...Object.entries(metric.metrics).map(([Id, each]) => ({
              ...{ Id, ReturnData: false },
              MetricStat: { Stat: each.statistic, Period: seconds, Metric: metricOf(each) },
            })),
          ],
        }
      : { ...metricOf(metric), ...statisticOf(metric), Period: seconds }),
  };
}

/** It becomes a mail, so it has neither the variables nor the links of docs/runbook.md. */
function descriptionOf(text: string, table: string): string | { 'Fn::Sub': string } {
  const plain = text.replaceAll(/\[([^\]]+)\]\((#[^)]+)\)/g, '$1 (docs/runbook.md$2)');
  const named = plain.replaceAll('$on', `--region \${AWS::Region} --table ${table}`);
  return named === plain ? plain : { 'Fn::Sub': named };
}

function metricOf({ namespace, name, dimensions }: Metric) {
  const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
  return { Namespace: namespace, MetricName: name, ...(Dimensions.length > 0 && { Dimensions }) };
}

/** CloudWatch ignores percentiles of few samples by default. */
function statisticOf({ statistic }: Metric) {
  return statistic.startsWith('p')
    ? { ExtendedStatistic: statistic, EvaluateLowSampleCountPercentile: 'evaluate' }
    : { Statistic: statistic };
}
