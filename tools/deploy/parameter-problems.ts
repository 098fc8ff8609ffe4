import type * as z from 'zod/mini';
import { issueSentence } from '../../lib/validation-issues.ts';
import { parameters } from './parameters.ts';

/** Rules between parameters. */
const rules: [fails: (values: Values, region: string) => boolean, sentence: string][] = [
  [
    ({ domainName, certificateArn }) => Boolean(domainName) !== Boolean(certificateArn),
    'domainName and certificateArn must be given together.',
  ],
  [
    ({ usageRecords, creditsPerDay, tasksPerDay, requestsPerMinute }) =>
      usageRecords === 'off' && Boolean(creditsPerDay || tasksPerDay || requestsPerMinute),
    'usageRecords must be on where creditsPerDay, tasksPerDay or requestsPerMinute is set.',
  ],
  [({ domainName, hostedZoneId }) => Boolean(hostedZoneId && !domainName), 'hostedZoneId needs domainName.'],
  [
    ({ alarmTopicArn, monthlyBudgetDollars }) => Boolean(monthlyBudgetDollars && !alarmTopicArn),
    'monthlyBudgetDollars needs alarmTopicArn, which is notified.',
  ],
  [
    ({ accessLogs, bucketName = '' }) => accessLogs === 'on' && bucketName.length > 58,
    'bucketName must have at most 58 characters where accessLogs is on: the bucket of the logs adds -logs.',
  ],
  ...['certificateArn', 'alarmTopicArn', 'secretsKeyArn'].map((name): (typeof rules)[number] => [
    (values, region) => Boolean(values[name]) && values[name]?.split(':')[3] !== region,
    `${name} must be in the region of the stage.`,
  ]),
];

export type Values = Record<string, string | undefined>;

/** Everything that is wrong with a stage's parameters, in sentences. */
export function problemsOf(values: Values, region: string): string[] {
  const known = Object.keys(parameters);
  const single = Object.entries(parameters).flatMap(([name, schema]) =>
    problemsOfOne(name, schema, values[name]),
  );
  const between = rules.filter(([fails]) => fails(values, region)).map(([, sentence]) => sentence);
  const unknown = Object.keys(values).filter((name) => !known.includes(name));
  return [
    ...unknown.map((name) => `There is no parameter ${name}.`),
    ...single,
    ...between.filter((sentence) => !single.some((problem) => subjectOf(problem) === subjectOf(sentence))),
  ];
}

function subjectOf(sentence: string): string | undefined {
  return /^\w+/.exec(sentence)?.[0];
}

function problemsOfOne(name: string, schema: z.ZodMiniType, value = ''): string[] {
  const { error } = schema.safeParse(value);
  if (!error) return [];
  // "unnamed" stands for a missing name, because the framework itself insists on a valid one.
  if (value === '' || value === 'unnamed') return [`${name} is missing: --param=${name}=…`];
  return error.issues.map((issue) => `${name}: ${issueSentence(issue, value)}.`);
}

/** Lambda refuses a function whose variables, names included, take more. Text that only AWS knows counts as 100. */
export function environmentProblem(name: string, environment: Record<string, unknown>): string[] {
  const bytes = Object.entries(environment).reduce((sum, [variable, value]) => {
    const size = typeof value === 'object' && value !== null ? 100 : Buffer.byteLength(String(value ?? ''));
    return sum + Buffer.byteLength(variable) + size;
  }, 0);
  const maxBytes = 4096;
  if (bytes <= maxBytes) return [];
  return [
    `The variables of ${name} take ${bytes} bytes, and Lambda allows ${maxBytes}: shorten tokenKeySet, or leave it out.`,
  ];
}
