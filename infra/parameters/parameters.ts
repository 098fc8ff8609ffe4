import * as z from 'zod/mini';
import * as config from '../../lib/config.ts';
import * as kinds from '../../lib/variable-kinds.ts';
import { accentProblem } from '@node-registry/site/colors';

export const variables = Object.assign(
  {},
  ...Object.values(config).map((member) =>
    typeof member === 'function' && 'variables' in member ? member.variables() : {},
  ),
) as config.Variables;

/** The parameters of a stage by name. Empty text and undefined are the same. */
export type Values = Record<string, string | undefined>;

/** A parameter of a deployed stage: what it may be, with its default, and its line in docs/configuration.md. */
export type Parameter = Pick<config.Variable, 'schema' | 'about'>;

function parameter(schema: z.ZodMiniType, about: string): Parameter {
  return { schema, about };
}

function arn(pattern: RegExp, rule: string) {
  return z.optional(kinds.textMatching(pattern, `be the ARN of ${rule}`));
}

const topic = arn(/^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]{1,256}$/, 'an SNS topic that is not FIFO');

/** CloudFront takes certificates from this region only. */
const certificateOfAmerica = arn(
  /^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
  'a certificate in us-east-1',
);

const hostName = z.optional(kinds.hostName());
const reserved = z.optional(kinds.wholeNumber(1, 1_000));
const perSecond = (standard: number) => kinds.count(standard, 2_500);
const capacity = (standard: number) => kinds.count(standard, 1_000_000);

const accent = z.string().check(
  z.check((context) => {
    const problem = accentProblem(context.value);
    if (problem !== undefined)
      context.issues.push({ code: 'custom', input: context.value, message: `must ${problem}` });
  }),
);

/** API Gateway and S3 compare these with a browser's Origin header, character by character. */
const origins = z
  .string()
  .check(
    z.refine(
      (value) => value === '*' || value.split(',').every(isOrigin),
      'must be *, or origins such as https://app.example.com, separated by commas, without spaces, paths or wildcards',
    ),
  );

function isOrigin(value: string): boolean {
  const url = URL.parse(value);
  return /^https?:$/.test(url?.protocol ?? '') && url?.origin === value && !value.includes('*');
}

/** The parameters that set no variable. */
const ofTemplate: Record<string, Parameter> = {
  secretsKeyArn: parameter(
    arn(/^arn:aws[\w-]*:kms:[\w-]+:\d{12}:key\/[\w-]+$/, 'a KMS key, not of an alias'),
    'KMS key of the provider keys, if not the account’s default.',
  ),
  selfService: parameter(
    kinds.choice('off', 'on'),
    '`on` lets people make their own publishers and tokens; needs `proxyAccess`.',
  ),
  accountDomainName: parameter(hostName, 'Host name of the page for accounts alone; needs `selfService=on`.'),
  accountCertificateArn: parameter(certificateOfAmerica, 'Its certificate, in us-east-1.'),
  loginOrigins: parameter(
    z.optional(origins),
    'Further origins of the issuer’s endpoints that this page calls, separated by commas.',
  ),
  site: parameter(kinds.choice('off', 'on'), '`on` serves a site that searches the registry.'),
  siteDomainName: parameter(hostName, 'Site’s host name.'),
  siteAccent: parameter(z._default(accent, '#4338ca'), 'Color of its links and buttons.'),
  corsOrigins: parameter(z._default(origins, '*'), 'Allowed origins of browser applications.'),
  rateLimit: parameter(perSecond(200), 'Requests a second on every other route.'),
  bulkRateLimit: parameter(perSecond(20), 'Bulk requests a second, of up to 1,000 versions.'),
  proxyRateLimit: parameter(
    perSecond(10),
    'Paid requests a second, each proxy; five times as many notifications.',
  ),
  proxyConcurrency: parameter(reserved, 'Executions reserved for each proxy, also its maximum.'),
  finalizeConcurrency: parameter(reserved, 'The same for checking uploads.'),
  tableMaxReads: parameter(capacity(12_000), 'Maximum read units a second.'),
  tableMaxWrites: parameter(capacity(4000), 'Maximum write units a second.'),
  domainName: parameter(hostName, 'API’s host name.'),
  certificateArn: parameter(
    arn(/^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/, 'a certificate'),
    'Its issued certificate, in the stage’s region.',
  ),
  generatedUrl: parameter(kinds.choice('on', 'off'), '`off` turns the generated URL off.'),
  siteCertificateArn: parameter(certificateOfAmerica, 'Certificate of the site’s host name, in us-east-1.'),
  hostedZoneId: parameter(
    z.optional(
      kinds.textMatching(
        /^Z[A-Z0-9]{1,31}$/,
        'be the id of a Route 53 hosted zone, such as Z0123456789ABCDEFGHIJ',
      ),
    ),
    'Route 53 zone for its record.',
  ),
  webAclArn: parameter(
    arn(
      /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]+\/[\w-]+$/,
      'a web ACL for CloudFront, which is in us-east-1',
    ),
    'Web ACL of all distributions.',
  ),
  alarmTopicArn: parameter(topic, 'SNS topic of alarms, in the stage’s region.'),
  noticeTopicArn: parameter(topic, 'SNS topic of alarms that can wait; by default the same.'),
  dashboard: parameter(kinds.choice('off', 'on'), '`on` makes a dashboard, for 3.00 a month.'),
  creditsPerHourAlarm: parameter(capacity(2000), 'Threshold of the alarm `credits-per-hour`.'),
  gigabytesPerHourAlarm: parameter(capacity(100), 'Threshold of the alarm `download-bytes`.'),
  administrators: parameter(
    z.optional(
      kinds.textMatching(
        /^arn:aws[\w-]*:iam::\d{12}:(?:user|role)\/[\w+=.@/-]+(?:,arn:aws[\w-]*:iam::\d{12}:(?:user|role)\/[\w+=.@/-]+)*$/,
        'be ARNs of users or roles, separated by commas',
      ),
    ),
    'ARNs of IAM users and roles that may assume the administration role, with MFA. Empty: the stage has no such role.',
  ),
  archiveAdministratorArn: parameter(
    arn(/^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, 'a role'),
    'The only role that may change archives; it and the administration role alone may deny them. Empty: no role may change archives, and any that tags objects may deny them.',
  ),
  restart: parameter(
    z.optional(kinds.textMatching(/^[\w:.+-]{1,64}$/, 'be 1 to 64 letters, digits and :.+-_')),
    'A new value restarts every function.',
  ),
};

const ofVariables = Object.entries(variables).flatMap(([name, variable]) => {
  const parameter = config.parameterOf(name, variable);
  return parameter === undefined ? [] : [[parameter, variable] as const];
});

export const parameters: Record<string, Parameter> = { ...Object.fromEntries(ofVariables), ...ofTemplate };

/** What serverless.yml finds for each parameter of the template that a stage doesn't set. */
export const templateDefaults = Object.fromEntries(
  Object.entries(ofTemplate).map(([name, { schema }]) => [name, schema.parse(undefined) ?? '']),
);
