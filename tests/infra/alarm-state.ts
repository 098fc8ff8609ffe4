import type { Part } from '../../infra/plugins/references.ts';
import { asText } from './intrinsics.ts';

/** One value of a metric, in a minute of a made-up day. */
export interface Sample {
  metric: string;
  dimensions: Record<string, string>;
  minute: number;
  value: number;
}

/*
 * An alarm as CloudWatch evaluates it: samples fall into periods, each period has a statistic, an expression makes
 * one datapoint of several, and enough breaching datapoints among the last ones ring. A period without a datapoint
 * counts as the alarm says.
 */
export function rings(alarm: Part, samples: Sample[], now: number): boolean {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, TreatMissingData } = alarm;
  const minutes = periodOf(alarm) / 60;
  const ends = Array.from({ length: EvaluationPeriods }, (_, index) => now - index * minutes);
  const breaching = ends.filter((end) => {
    const inPeriod = samples.filter(({ minute }) => minute > end - minutes && minute <= end);
    const datapoint = datapointOf(alarm, inPeriod);
    return Number.isFinite(datapoint) ? breaches(alarm, Number(datapoint)) : TreatMissingData === 'breaching';
  });
  return breaching.length >= DatapointsToAlarm;
}

function periodOf({ Period, Metrics = [] }: Part): number {
  return Period ?? Metrics.find(({ MetricStat }: Part) => MetricStat).MetricStat.Period;
}

function breaches({ ComparisonOperator, Threshold }: Part, datapoint: number): boolean {
  if (ComparisonOperator === 'GreaterThanThreshold') return datapoint > Number(Threshold);
  if (ComparisonOperator === 'LessThanThreshold') return datapoint < Number(Threshold);
  throw new Error(`The tests do not know ${ComparisonOperator}.`);
}

function datapointOf(alarm: Part, samples: Sample[]): number | undefined {
  if (!alarm.Metrics) return statistic(alarm.Statistic ?? alarm.ExtendedStatistic, matching(alarm, samples));
  const stats = alarm.Metrics.filter(({ MetricStat }: Part) => MetricStat);
  const values = stats.map(({ MetricStat }: Part) =>
    statistic(MetricStat.Stat, matching(MetricStat.Metric, samples)),
  );
  const { Expression } = alarm.Metrics.find((part: Part) => part.Expression);
  const ids = stats.map(({ Id }: Part) => Id);
  // The alarms use arithmetic, comparisons, IF and FILL, which read the same in both languages.
  const evaluate = new Function('IF', 'FILL', ...ids, `return ${Expression};`);
  return evaluate(
    (condition: boolean, yes: number, no: number) => (condition ? yes : no),
    (value: number | undefined, other: number) => value ?? other,
    ...values,
  );
}

function matching({ Namespace, MetricName, Dimensions = [] }: Part, samples: Sample[]): number[] {
  const wanted = Dimensions.map(({ Name, Value }: Part) => `${Name}=${asText(Value)}`).sort();
  return samples
    .filter(({ metric, dimensions }) => {
      const has = Object.entries(dimensions).map(([name, value]) => `${name}=${value}`);
      return metric === `${Namespace} ${MetricName}` && has.sort().join() === wanted.join();
    })
    .map(({ value }) => value);
}

function statistic(name: string, values: number[]): number | undefined {
  if (name === 'SampleCount') return values.length || undefined;
  if (values.length === 0) return undefined;
  if (name === 'Sum') return values.reduce((sum, value) => sum + value, 0);
  if (name === 'Maximum') return Math.max(...values);
  if (name === 'p95') return values.sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1];
  throw new Error(`The tests do not know ${name}.`);
}
