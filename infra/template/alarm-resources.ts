/*
 * CloudWatch evaluates an alarm while data may still be on its way, and Lambda stamps an error with the time
 * of the invocation. So an alarm on events evaluates more periods than it needs (M of N), and treats a period
 * without data as one without events (docs.aws.amazon.com:
 * AmazonCloudWatch/latest/monitoring/alarm-evaluation.html, and
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
  /** Fires if this many of the periods are above a threshold, or below it. */
  periods: readonly [breaching: number, of: number];
  above?: number;
  below?: number;
  /** Each run leaves a log line, so a period without data breaches. A new alarm waits for its first data. */
  mustRun?: true;
  /** Keeps its state without data: a dead-letter queue that is idle for six hours may report none. */
  isLasting?: true;
}

/** Whether it wakes the operator, or waits for the morning. */
export type Level = 'wake' | 'notice';

interface Named {
  name: string;
  level: Level;
  /** Its meaning, places to check after "See", and the remedy; what stays broken "Until then". Its mail. */
  text: string;
}

/** One metric, or several by their ids and an expression that combines them. */
type Watched = Metric | { expression: string; metrics: Record<string, Metric> };

export interface MetricAlarm extends Named, When {
  metric: Watched;
}

/** Fires by the states of other alarms. */
export interface CompositeAlarm extends Named {
  rule: string;
}

export type Alarm = MetricAlarm | CompositeAlarm;

export function alarm(name: string, level: Level, text: string, metric: Watched, when: When): Alarm {
  return { name, level, text, metric, ...when };
}

export function sumOf(rows: readonly (readonly [id: string, metric: Metric])[]): Watched {
  const expression = rows.map(([id]) => `FILL(${id}, 0)`).join(' + ');
  return { expression, metrics: Object.fromEntries(rows) };
}

/** How many of the metrics are above their bounds. */
export function anyAbove(rows: readonly (readonly [id: string, metric: Metric, bound: number])[]): Watched {
  const expression = rows.map(([id, , bound]) => `(FILL(${id}, 0) > ${bound})`).join(' + ');
  return { expression, metrics: Object.fromEntries(rows.map(([id, metric]) => [id, metric])) };
}

export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export function ofQueue(name: string, queue: string): Metric {
  const dimensions = { QueueName: { 'Fn::GetAtt': [queue, 'QueueName'] as [string, string] } };
  return { namespace: 'AWS/SQS', name, statistic: 'Maximum', dimensions };
}

/** In a new stage, schedules start only after the table, created last. They then get the usual time. */
const creationMinutes = 60;

function alarmId(name: string): string {
  return `${name.split('-').map(upperFirst).join('')}Alarm`;
}

/** The resources of all alarms of a stage, with the topic of each level. */
export function alarmResources(
  alarms: readonly Alarm[],
  prefix: string,
  topics: Record<Level, string | undefined>,
) {
  const names = alarms.map(({ name }) => name);
  const entries = alarms.map((it) => {
    const topic = topics[it.level];
    const Properties = {
      AlarmName: `${prefix}-${it.name}`,
      AlarmDescription: descriptionOf(it.text, prefix),
      ...(topic && { AlarmActions: [topic], OKActions: [topic] }),
      ...('rule' in it ? { AlarmRule: ruleOf(it, names) } : metricProperties(it)),
    };
    return [
      alarmId(it.name),
      { Type: `AWS::CloudWatch::${'rule' in it ? 'CompositeAlarm' : 'Alarm'}`, Properties },
    ];
  });
  return Object.fromEntries(entries);
}

/** An alarm that the stage doesn't have never fires. */
function ruleOf({ rule }: CompositeAlarm, names: readonly string[]) {
  return {
    'Fn::Sub': rule.replaceAll(/[a-z][a-z-]+/g, (name) =>
      names.includes(name) ? `ALARM("\${${alarmId(name)}}")` : 'FALSE',
    ),
  };
}

function metricProperties({ name, metric, seconds, periods, above, below, mustRun, isLasting }: MetricAlarm) {
  const [DatapointsToAlarm, EvaluationPeriods] = periods;
  return {
    TreatMissingData: mustRun ? 'breaching' : isLasting ? 'ignore' : 'notBreaching',
    ComparisonOperator: below === undefined ? 'GreaterThanThreshold' : 'LessThanThreshold',
    Threshold: below ?? above,
    DatapointsToAlarm,
    EvaluationPeriods,
    ...(mustRun && {
      WarmUpConfiguration: {
        WarmUpPeriodDurationInMinutes: (seconds * EvaluationPeriods) / 60 + creationMinutes,
      },
    }),
    ...('expression' in metric
      ? {
          Metrics: [
            { Id: 'result', Label: name, Expression: metric.expression },
            ...Object.entries(metric.metrics).map(([Id, each]) => ({
              Id,
              ReturnData: false,
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
