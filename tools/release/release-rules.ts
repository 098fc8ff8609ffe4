import type { Template } from '../../infra/plugins/framework.ts';
import type { Part } from '../../infra/plugins/references.ts';

/** The inputs for cutting a release. */
export interface Cut {
  current: string;
  next: string;
  /** The uncommitted changes, as git prints them. */
  unclean: string;
  /** The tree of the commit, and the one that last passed the gate. */
  tree: string;
  passed: string;
  changeLog: string;
}

const version = /^(\d+)\.(\d+)\.(\d+)$/;

/** Why no release can be cut. */
export function cutProblems({ current, next, unclean, tree, passed, changeLog }: Cut): string[] {
  const rules: [isBroken: boolean, sentence: string][] = [
    [!successors(current).includes(next), `The next version must be ${successors(current).join(' or ')}.`],
    [unclean !== '', `The tree has changes that are not committed:\n${unclean}`],
    [passed !== tree, 'The gate has not passed on this commit: run .ci/run first.'],
    [
      !new RegExp(`^## ${current.replaceAll('.', '\\.')}$`, 'm').test(changeLog),
      `docs/CHANGELOG.md has no heading "## ${current}". Remove "(unreleased)" from it.`,
    ],
  ];
  return rules.flatMap(([isBroken, sentence]) => (isBroken ? [sentence] : []));
}

/**
 * The names that operators and their tools use, with values: parameters with defaults, commands, outputs,
 * alarms with bounds, and functions with timeouts.
 */
export type Surface = Record<string, string>;

export function surfaceOf({ Resources, Outputs }: Template, others: Surface): Surface {
  const named = (type: string, property: string, value: (properties: Part) => string) =>
    Object.values(Resources)
      .filter(({ Type }) => Type === type)
      .map(({ Properties: it }) => [String(it[property]).replace('node-registry-prod-', ''), value(it)]);
  return Object.fromEntries([
    ...Object.entries(others),
    ...named('AWS::CloudWatch::Alarm', 'AlarmName', boundOf),
    ...named('AWS::Lambda::Function', 'FunctionName', ({ Timeout }) => `${Timeout} s`),
    // The framework's own outputs name a version of a function.
    ...Object.keys(Outputs).flatMap((name) => (name.endsWith('QualifiedArn') ? [] : [[name, 'output']])),
  ]);
}

function boundOf({ ComparisonOperator, Threshold, DatapointsToAlarm, EvaluationPeriods, ...alarm }: Part) {
  const { Period = alarm.Metrics?.at(-1).MetricStat.Period } = alarm;
  return `${ComparisonOperator} ${Threshold} in ${DatapointsToAlarm} of ${EvaluationPeriods} times ${Period} s`;
}

/** Names that are gone or changed since the last release, but missing in the change log's newest part. */
export function unsaidChanges(before: Surface, now: Surface, changeLog: string): string[] {
  const [, newest = ''] = changeLog.split(/^## /m);
  return Object.entries(before)
    .filter(([name, value]) => now[name] !== value && !newest.includes(`\`${name}\``))
    .map(([name, value]) =>
      name in now ? `${name} has changed: ${value}, now ${now[name]}` : `${name} is gone`,
    );
}

function successors(current: string): string[] {
  const [major = 0, minor = 0, patch = 0] = version.exec(current)?.slice(1).map(Number) ?? [];
  return [`${major}.${minor}.${patch + 1}`, `${major}.${minor + 1}.0`, `${major + 1}.0.0`];
}

/** The same bill of materials for the same packages, so that its digest is meaningful. */
export function sbomOf(text: string): string {
  const { serialNumber: _, ...bill } = JSON.parse(text);
  delete bill.metadata.timestamp;
  return `${JSON.stringify(bill, null, 2)}\n`;
}
