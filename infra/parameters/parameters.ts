import * as z from 'zod/mini';
import * as config from '../../lib/config.ts';
import * as kinds from '../../lib/variable-kinds.ts';
import { accentProblem } from '@node-registry/site/colors';
import { issueSentence } from '@node-registry/registry-rules/issue-sentence';
import { origins, secretReference, secureAddress } from './parameter-rules.ts';

export const variables = Object.assign(
  {},
  ...Object.values(config).map((member) =>
    typeof member === 'function' && 'variables' in member ? member.variables() : {},
  ),
) as config.Variables;

/** The parameters of a stage by name. Empty text and undefined are the same. */
export type Values = Record<string, string | undefined>;

/** A parameter's problem, in a sentence that names the parameter. */
export type Problem = readonly [parameter: string, sentence: string];

/** A parameter of a deployed stage: its line in docs/configuration.md, and its rules. */
export interface Parameter {
  about: string;
  /** The problems of a value, each as the rest of a sentence that begins with the parameter's name. */
  problemsOf: (value: string) => string[];
  /** Whether a stage may omit it. */
  isOptional: boolean;
}

/*
 * Values come as text from the command line and as text or numbers from serverless.yml, so all are checked as
 * text. A parameter that sets a variable must match the variable's own schema (lib/config.ts).
 */
function ofVariable({ schema, about }: config.Variable): Parameter {
  const { def } = schema._zod;
  const kind = 'innerType' in def ? def.innerType : schema;
  // Each CI issuer is a URL, or two.
  const isAddress = kind === kinds.address || schema === variables.CI_ISSUERS?.schema;
  const others = [...(kind === kinds.secret ? [secretReference] : []), ...(isAddress ? [secureAddress] : [])];
  return { ...required(schema, about, ...others), isOptional: schema.safeParse(undefined).success };
}

/** Reports only the first rule that a value breaks. */
function required(schema: z.ZodMiniType, about: string, ...others: z.ZodMiniType[]): Parameter {
  const problemsOf = (value: string) =>
    [schema, ...others]
      .flatMap((each) => each.safeParse(value).error?.issues ?? [])
      .map((issue) => issueSentence(issue, value))
      .slice(0, 1);
  return { about, isOptional: false, problemsOf };
}

function optional(schema: z.ZodMiniType, about: string): Parameter {
  return { ...required(schema, about), isOptional: true };
}

const topic = kinds.textMatching(
  /^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]{1,256}$/,
  'be the ARN of an SNS topic that is not FIFO',
);

const accent = z.string().check(
  z.check((context) => {
    const problem = accentProblem(context.value);
    if (problem !== undefined)
      context.issues.push({ code: 'custom', input: context.value, message: `must ${problem}` });
  }),
);
const onOff = z.enum(['off', 'on']);
const perSecond = kinds.wholeNumber(1, 2_500);
const reserved = kinds.wholeNumber(1, 1_000);
const capacity = kinds.wholeNumber(1, 1_000_000);

/** CloudFront takes certificates from this region only. */
const certificateOfAmerica = kinds.textMatching(
  /^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
  'be the ARN of a certificate in us-east-1',
);

const ofVariables = Object.entries(variables).flatMap(([name, variable]) => {
  const parameter = config.parameterOf(name, variable);
  return parameter === undefined ? [] : [[parameter, ofVariable(variable)] as const];
});

export const parameters: Record<string, Parameter> = {
  ...Object.fromEntries(ofVariables),
  // A stage without a limit must say so.
  creditsPerDay: required(
    config.spending.variables().CREDITS_PER_DAY.schema,
    config.spending.variables().CREDITS_PER_DAY.about,
  ),
  secretsKeyArn: optional(
    kinds.textMatching(
      /^arn:aws[\w-]*:kms:[\w-]+:\d{12}:key\/[\w-]+$/,
      'be the ARN of a KMS key, not of an alias',
    ),
    'KMS key of the provider keys, if not the account’s default.',
  ),
  selfService: required(onOff, '`on` lets people make their own publishers and tokens; needs `proxyAccess`.'),
  accountDomainName: optional(
    kinds.hostName(),
    'Host name of the page for accounts alone; needs `selfService=on`.',
  ),
  accountCertificateArn: optional(certificateOfAmerica, 'Its certificate, in us-east-1.'),
  loginOrigins: optional(
    origins,
    'Further origins of the issuer’s endpoints that this page calls, separated by commas.',
  ),
  site: required(onOff, '`on` serves a site that searches the registry.'),
  siteDomainName: optional(kinds.hostName(), 'Site’s host name.'),
  siteAccent: required(accent, 'Color of its links and buttons.'),
  corsOrigins: required(origins, 'Allowed origins of browser applications.'),
  rateLimit: required(perSecond, 'Requests a second on every other route.'),
  bulkRateLimit: required(perSecond, 'Bulk requests a second, of up to 1,000 versions.'),
  proxyRateLimit: required(
    perSecond,
    'Paid requests a second, each proxy; five times as many notifications.',
  ),
  proxyConcurrency: optional(reserved, 'Executions reserved for each proxy, also its maximum.'),
  finalizeConcurrency: optional(reserved, 'The same for checking uploads.'),
  tableMaxReads: required(capacity, 'Maximum read units a second.'),
  tableMaxWrites: required(capacity, 'Maximum write units a second.'),
  domainName: optional(kinds.hostName(), 'API’s host name.'),
  certificateArn: optional(
    kinds.textMatching(
      /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
      'be the ARN of a certificate',
    ),
    'Its issued certificate, in the stage’s region.',
  ),
  generatedUrl: required(onOff, '`off` turns the generated URL off.'),
  siteCertificateArn: optional(certificateOfAmerica, 'Certificate of the site’s host name, in us-east-1.'),
  hostedZoneId: optional(
    kinds.textMatching(
      /^Z[A-Z0-9]{1,31}$/,
      'be the id of a Route 53 hosted zone, such as Z0123456789ABCDEFGHIJ',
    ),
    'Route 53 zone for its record.',
  ),
  webAclArn: optional(
    kinds.textMatching(
      /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]+\/[\w-]+$/,
      'be the ARN of a web ACL for CloudFront, which is in us-east-1',
    ),
    'Web ACL of all distributions.',
  ),
  alarmTopicArn: optional(topic, 'SNS topic of alarms, in the stage’s region.'),
  noticeTopicArn: optional(topic, 'SNS topic of alarms that can wait; by default the same.'),
  dashboard: required(onOff, '`on` makes a dashboard, for 3.00 a month.'),
  creditsPerHourAlarm: required(capacity, 'Threshold of the alarm `credits-per-hour`.'),
  gigabytesPerHourAlarm: required(capacity, 'Threshold of the alarm `download-bytes`.'),
  administrators: optional(
    kinds.textMatching(
      /^arn:aws[\w-]*:iam::\d{12}:(?:user|role)\/[\w+=.@/-]+(?:,arn:aws[\w-]*:iam::\d{12}:(?:user|role)\/[\w+=.@/-]+)*$/,
      'be ARNs of users or roles, separated by commas',
    ),
    'ARNs of IAM users and roles that may assume the administration role, with MFA. Empty: the stage has no such role.',
  ),
  archiveAdministratorArn: optional(
    kinds.textMatching(/^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, 'be the ARN of a role'),
    'The only role that may change archives; it and the administration role alone may deny them. Empty: no role may change archives, and any that tags objects may deny them.',
  ),
  restart: optional(
    kinds.textMatching(/^[\w:.+-]{1,64}$/, 'be 1 to 64 letters, digits and :.+-_'),
    'A new value restarts every function.',
  ),
};
