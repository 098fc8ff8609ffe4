import { ceilingProblems } from './ceiling-problems.ts';
import type { Values } from './parameter-problems.ts';

/** Rules between parameters, and between parameters and the stage's region. */
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
  ...['image', 'video'].flatMap((provider): typeof rules => {
    const key = `${provider}NotificationKey`;
    return [
      [
        (values) => Boolean(values[key]) && values.notifications !== 'relay',
        `${key} needs notifications=relay: otherwise no notification comes here whose signature it could check.`,
      ],
      [
        (values) => Boolean(values[`${key}Header`]) && !values[key],
        `${key}Header needs ${key}, with which the signature in it is checked.`,
      ],
    ];
  }),
  [
    ({ downloadBaseUrl }, region) => partitionOf(region) !== 'aws' && !downloadBaseUrl,
    'downloadBaseUrl is needed in this region: it has no CloudFront that could read the bucket.',
  ],
  ...['certificateArn', 'alarmTopicArn', 'secretsKeyArn'].map((name): (typeof rules)[number] => [
    (values, region) => Boolean(values[name]) && values[name]?.split(':')[3] !== region,
    `${name} must be in the region of the stage.`,
  ]),
  ...[
    'imageProviderKey',
    'videoProviderKey',
    'imageNotificationKey',
    'videoNotificationKey',
    'notificationSigningKey',
  ].map((name): (typeof rules)[number] => [
    (values, region) => {
      const [, arn, , , secretRegion] = values[name]?.split(':') ?? [];
      return arn === 'arn' && secretRegion !== region;
    },
    `${name} must be in the region of the stage: no other one is asked for secrets.`,
  ]),
  ...['certificateArn', 'alarmTopicArn', 'secretsKeyArn', 'archiveAdministratorArn'].map(
    (name): (typeof rules)[number] => [
      (values, region) => Boolean(values[name]) && values[name]?.split(':')[1] !== partitionOf(region),
      `${name} must begin with arn: and the partition of the stage, such as aws.`,
    ],
  ),
];

export function combinationProblems(values: Values, region: string): string[] {
  const broken = rules.filter(([fails]) => fails(values, region)).map(([, sentence]) => sentence);
  const subjects = broken.map((sentence) => sentence.split(' ')[0]);
  // An ARN of another partition is of another region, too.
  const distinct = broken.filter((_, index) => subjects.indexOf(subjects[index]) === index);
  return [...distinct, ...ceilingProblems(values)];
}

/** The group of regions that an account belongs to: its part of an ARN. */
function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn';
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';
}
