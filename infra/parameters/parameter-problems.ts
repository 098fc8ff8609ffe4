import { paidOperations } from '../../lib/config.ts';
import { ceilingProblems } from './ceiling-problems.ts';
import { type Parameter, parameters, type Problem, type Values } from './parameters.ts';

/** Everything that is wrong with a stage's parameters. */
export function problemsOf(values: Values, region: string): Problem[] {
  const known = Object.keys(parameters);
  const unknown = Object.keys(values).filter((name) => !known.includes(name));
  return firstOfEach(
    unknown.map((name) => [name, `${name} is not a parameter.`]),
    Object.entries(parameters).flatMap(([name, parameter]) => problemsOfOne(name, parameter, values[name])),
    combinationProblems(values, region),
  );
}

/** What breaks one rule often breaks others too: of each parameter only what the first check says. */
export function firstOfEach(...checks: Problem[][]): Problem[] {
  return checks.flatMap((problems, index) => {
    const known = new Set(checks.slice(0, index).flatMap((earlier) => earlier.map(([name]) => name)));
    return problems.filter(([name]) => !known.has(name));
  });
}

function problemsOfOne(name: string, { isOptional, problemsOf }: Parameter, value = ''): Problem[] {
  // The framework itself insists on a valid name of a bucket, so "unnamed" stands for a missing one.
  if (value === '' || value === 'unnamed')
    return isOptional ? [] : [[name, `${name} is missing: --param=${name}=…`]];
  return problemsOf(value).map((problem) => [name, `${name}: ${problem}.`]);
}

/** The least that each entry counts: its fixed part, one frame and one second. */
function ceilingsOf(list: string): [task: string, credits: number][] {
  return list.split(',').map((entry) => {
    const [task = '', terms = ''] = entry.trim().split('=');
    return [task, terms.split('+').reduce((sum, term) => sum + Number.parseInt(term, 10), 0)];
  });
}

function missingCeilings(list: string): string[] {
  const tasks = ceilingsOf(list).map(([task]) => task);
  return paidOperations.filter((operation) => !tasks.includes(operation));
}

/** Those that are on in every account. CloudFront does not write its logs to buckets in the others. */
const regionsOfLogs = new Set([
  ...['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'ca-central-1', 'sa-east-1'],
  ...['eu-central-1', 'eu-west-1', 'eu-west-2', 'eu-west-3', 'eu-north-1', 'ap-south-1'],
  ...['ap-northeast-1', 'ap-northeast-2', 'ap-northeast-3', 'ap-southeast-1', 'ap-southeast-2'],
]);

/** Rules between parameters, and between parameters and the stage's region. */
const rules: [fails: (values: Values, region: string) => boolean, parameter: string, rest: string][] = [
  [
    ({ domainName, certificateArn }) => Boolean(domainName) !== Boolean(certificateArn),
    'domainName',
    'and certificateArn must be given together.',
  ],
  [
    ({ creditsPerDay, creditCeilings = '' }) =>
      Number(creditsPerDay) > 0 && missingCeilings(creditCeilings).length > 0,
    'creditCeilings',
    `must have an entry for each of ${paidOperations.join(', ')} when creditsPerDay is set: a task without one is rejected.`,
  ],
  [
    ({ creditsPerDay, creditCeilings = '' }) =>
      Number(creditsPerDay) > 0 &&
      ceilingsOf(creditCeilings).every(([, credits]) => credits > Number(creditsPerDay)),
    'creditsPerDay',
    'is below every entry of creditCeilings: no caller could start a task.',
  ],
  [
    ({ accessLogs, downloadBaseUrl }, region) =>
      accessLogs === 'on' && !downloadBaseUrl && !regionsOfLogs.has(region),
    'accessLogs',
    'must be off in this region, or downloadBaseUrl given: CloudFront cannot write logs to a bucket here.',
  ],
  [
    ({ site, downloadBaseUrl }) => site === 'on' && Boolean(downloadBaseUrl),
    'site',
    'must be off where downloadBaseUrl is given: it is served by the stage’s own distribution.',
  ],
  [
    ({ tracing }, region) => tracing === 'Active' && region.startsWith('cn-'),
    'tracing',
    'must be PassThrough in China.',
  ],
  [
    ({ domainName, hostedZoneId }) => Boolean(hostedZoneId && !domainName),
    'hostedZoneId',
    'needs domainName.',
  ],
  [
    ({ alarmTopicArn, monthlyBudgetDollars }) => Boolean(monthlyBudgetDollars && !alarmTopicArn),
    'monthlyBudgetDollars',
    'needs alarmTopicArn, which is notified.',
  ],
  [
    ({ accessLogs, bucketName = '' }) => accessLogs === 'on' && bucketName.length > 58,
    'bucketName',
    'must have at most 58 characters where accessLogs is on: the bucket of the logs adds -logs.',
  ],
  ...['image', 'video'].flatMap((provider): typeof rules => {
    const key = `${provider}NotificationKey`;
    return [
      [
        (values) => Boolean(values[key]) && values.notifications !== 'relay',
        key,
        `needs notifications=relay: otherwise no notification comes here whose signature it could check.`,
      ],
      [
        (values) => Boolean(values[`${key}Header`]) && !values[key],
        `${key}Header`,
        `needs ${key}, with which the signature in it is checked.`,
      ],
    ];
  }),
  [
    ({ downloadBaseUrl }, region) => partitionOf(region) !== 'aws' && !downloadBaseUrl,
    'downloadBaseUrl',
    'is needed in this region: it has no CloudFront that could read the bucket.',
  ],
  ...['certificateArn', 'alarmTopicArn', 'secretsKeyArn'].map((name): (typeof rules)[number] => [
    (values, region) => Boolean(values[name]) && values[name]?.split(':')[3] !== region,
    name,
    'must be in the region of the stage.',
  ]),
  ...['imageProviderKey', 'videoProviderKey', 'imageNotificationKey', 'videoNotificationKey'].map(
    (name): (typeof rules)[number] => [
      (values, region) => {
        const [, arn, , , secretRegion] = values[name]?.split(':') ?? [];
        return arn === 'arn' && secretRegion !== region;
      },
      name,
      'must be in the region of the stage: no other one is asked for secrets.',
    ],
  ),
  ...['certificateArn', 'alarmTopicArn', 'secretsKeyArn', 'archiveAdministratorArn'].map(
    (name): (typeof rules)[number] => [
      (values, region) => Boolean(values[name]) && values[name]?.split(':')[1] !== partitionOf(region),
      name,
      'must begin with arn: and the partition of the stage, such as aws.',
    ],
  ),
];

function combinationProblems(values: Values, region: string): Problem[] {
  const broken = rules.filter(([fails]) => fails(values, region));
  const names = broken.map(([, name]) => name);
  // An ARN of another partition is of another region, too.
  const distinct = broken.filter((_, index) => names.indexOf(names[index] ?? '') === index);
  return [
    ...distinct.map(([, name, rest]): Problem => [name, `${name} ${rest}`]),
    ...ceilingProblems(values),
  ];
}

/** The group of regions that an account belongs to: its part of an ARN. */
function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn';
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';
}
