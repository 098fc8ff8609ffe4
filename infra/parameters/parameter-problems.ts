import { BucketLocationConstraint } from '@aws-sdk/client-s3';
import { bodySchema, type PaidContract } from '../../lib/contract.ts';
import * as config from '../../lib/config.ts';
import * as z from 'zod/mini';
import * as kinds from '../../lib/variable-kinds.ts';
import { issueSentence } from '@node-registry/registry-rules/issue-sentence';
import { type Parameter, parameters, type Values, variables } from './parameters.ts';
import { conditionsOf } from '../template/conditions.ts';
import { costOf } from '../../lib/attempts/price.ts';

/**
 * All problems of a stage's parameters, each a sentence that begins with the parameter. A value that breaks one rule
 * often breaks others, so only its first problem counts, or all of its rates.
 */
export function parameterProblems(values: Values, region: string, paid: readonly PaidContract[]): string[] {
  const problems = [
    ...Object.keys(values).flatMap((name) => (name in parameters ? [] : `${name} is not a parameter.`)),
    ...Object.entries(parameters).flatMap(([name, each]) => problemsOfOne(name, each, values[name])),
    ...Object.entries(rules).flatMap(([sentence, isBroken]) => (isBroken(values, region) ? sentence : [])),
  ];
  const byParameter = Map.groupBy(problems, parameterIn);
  const ofRates = rateProblems(values, paid).filter((sentence) => !byParameter.has(parameterIn(sentence)));
  return [...[...byParameter.values()].flatMap(([first = '']) => first), ...ofRates];
}

function parameterIn(sentence: string): string {
  return sentence.replace(/[\s:].*/s, '');
}

function problemsOfOne(name: string, parameter: Parameter, value = ''): string[] {
  // The framework itself requires a valid bucket name, so "unnamed" stands for a missing one.
  if (value !== '' && value !== 'unnamed')
    return valueProblems(parameter, value).map((problem) => `${name}: ${problem}.`);
  // A stage without a limit must say so.
  const isOptional = name !== 'creditsPerDay' && parameter.schema.safeParse(undefined).success;
  return isOptional ? [] : [`${name} is missing: --param=${name}=…`];
}

/** Plain http is for the local stack. */
const secureAddress = z
  .string()
  .check(z.refine((value) => !/http:/i.test(value), 'must be an https address, without a query or user'));

/** An ARN ends with six characters that the store appends; without them, no other account can be queried. */
const secretArn = String.raw`arn:aws[\w-]*:secretsmanager:[\w-]+:\d{12}:secret:[\w/+=.@!-]+-[A-Za-z0-9]{6}`;

const secretReference = kinds.textMatching(
  new RegExp(String.raw`^(?:ssm:/[\w./-]+|secretsmanager:(?:[\w/+=.@!-]+|${secretArn}))$`),
  'name a secret, as ssm:/<name>, secretsmanager:<name> or secretsmanager:<complete ARN>; the key itself would be readable in the template',
);

/**
 * The first rule that a value breaks, as the rest of a sentence that begins with the parameter's name. Values come as text
 * from the command line and as text or numbers from serverless.yml, so all are checked as text.
 */
export function valueProblems({ schema }: Parameter, value: string): string[] {
  const { def } = schema._zod;
  const kind = 'innerType' in def ? def.innerType : schema;
  // Each CI issuer is a URL, or two.
  const isAddress = kind === kinds.address || schema === variables.CI_ISSUERS?.schema;
  return [schema, ...(kind === kinds.secret ? [secretReference] : []), ...(isAddress ? [secureAddress] : [])]
    .flatMap((each) => each.safeParse(value).error?.issues ?? [])
    .map((issue) => issueSentence(issue, value))
    .slice(0, 1);
}

/** The regions that every account has enabled. CloudFront can't write logs to buckets in other regions. */
const regionsOfLogs = new Set([
  ...['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'ca-central-1', 'sa-east-1'],
  ...['eu-central-1', 'eu-west-1', 'eu-west-2', 'eu-west-3', 'eu-north-1', 'ap-south-1'],
  ...['ap-northeast-1', 'ap-northeast-2', 'ap-northeast-3', 'ap-southeast-1', 'ap-southeast-2'],
]);

function hasCloudFront(region: string): boolean {
  return !/^(?:cn|us-gov)-/.test(region);
}

/** To S3, whose list leaves out the oldest and the secret ones. */
function isKnown(region: string): boolean {
  return (
    /^us-iso/.test(region) ||
    region === 'us-east-1' ||
    Object.values<string>(BucketLocationConstraint).includes(region)
  );
}

type Rules = Record<string, (values: Values, region: string) => unknown>;

function together(name: string, other: string): Rules {
  return {
    [`${name} and ${other} must be given together.`]: (values) => !values[name] !== !values[other],
  };
}

function ownDistribution(name: string): Rules {
  return {
    [`${name} needs the stage’s own distribution: leave out downloadBaseUrl.`]: (values) =>
      values[name] && values.downloadBaseUrl,
  };
}

function inRegion(name: string): Rules {
  return {
    [`${name} must be in the region of the stage.`]: (values, region) =>
      values[name] && values[name].split(':')[3] !== region,
  };
}

function secretInRegion(name: string): Rules {
  return {
    [`${name} must be in the region of the stage: no other one is asked for secrets.`]: (values, region) => {
      const [, arn, , , secretRegion] = values[name]?.split(':') ?? [];
      return arn === 'arn' && secretRegion !== region;
    },
  };
}

/** Rules between parameters, and between parameters and the stage's region: each sentence with what breaks it. */
const rules: Rules = {
  ...together('domainName', 'certificateArn'),
  ...together('siteDomainName', 'siteCertificateArn'),
  ...together('accountDomainName', 'accountCertificateArn'),
  ...ownDistribution('webAclArn'),
  ...ownDistribution('accountDomainName'),
  'accessLogs must be off in this region, or downloadBaseUrl given: CloudFront cannot write logs to a bucket here.':
    (given, region) =>
      conditionsOf(given).CountsDownloads &&
      hasCloudFront(region) &&
      isKnown(region) &&
      !regionsOfLogs.has(region),
  'The region is unknown: check how it is spelled.': (_, region) => !isKnown(region),
  'resultRoutes must be off, or left out, with notifications=direct: the service then learns no results.': (
    given,
  ) => given.resultRoutes === 'on' && given.notifications === 'direct',
  'proxyAccess must be given where selfService is on: none, claim, listed or any says who of all that sign in may spend.':
    (given) => given.selfService === 'on' && !given.proxyAccess,
  'proxyAccessToken must be required with this proxyAccess: it says who may spend.': (given) =>
    given.proxyAccess && given.proxyAccess !== 'any' && given.proxyAccessToken === 'optional',
  'stageCreditsPerDay must be given with proxyAccess=any: each person who signs in gets a budget, so only this one bounds all.':
    (given) => given.proxyAccess === 'any' && !(Number(given.stageCreditsPerDay) > 0),
  'proxyClaim and proxyAccess=claim must be given together.': (given) =>
    (given.proxyAccess === 'claim') !== Boolean(given.proxyClaim),
  'site must be off where downloadBaseUrl is given: it is served by the stage’s own distribution.': (given) =>
    given.site === 'on' && given.downloadBaseUrl,
  'siteDomainName needs site=on.': (given) => given.site !== 'on' && given.siteDomainName,
  'siteDomainName must differ from domainName: one name cannot lead to the site and to the API.': (given) =>
    given.domainName && given.domainName === given.siteDomainName,
  'accountDomainName needs selfService=on, a loginClientId (for signing in) and a domainName (the API that the page calls).':
    (given) =>
      given.accountDomainName && !(given.selfService === 'on' && given.loginClientId && given.domainName),
  'accountDomainName must differ from domainName and siteDomainName: people’s tokens have an origin of their own.':
    (given) =>
      given.accountDomainName && [given.domainName, given.siteDomainName].includes(given.accountDomainName),
  'loginOrigins needs accountDomainName: only the page for accounts uses these origins.': (given) =>
    given.loginOrigins && !given.accountDomainName,
  'hostedZoneId needs domainName.': (given) => given.hostedZoneId && !given.domainName,
  'generatedUrl must be on without a domainName: it is the only address of the API.': (given) =>
    given.generatedUrl === 'off' && !given.domainName,
  'bucketName must have at most 58 characters unless accessLogs is off: the bucket of the logs adds -logs.': (
    given,
  ) => conditionsOf(given).KeepsLogs && String(given.bucketName).length > 58,
  'downloadBaseUrl is needed in this region: it has no CloudFront that could read the bucket.': (given, at) =>
    !hasCloudFront(at) && !given.downloadBaseUrl,
  'alarmTopicArn is needed with a noticeTopicArn: otherwise the alarms that wake the operator notify no one.':
    (given) => given.noticeTopicArn && !given.alarmTopicArn,
  ...inRegion('certificateArn'),
  ...inRegion('alarmTopicArn'),
  ...inRegion('noticeTopicArn'),
  ...inRegion('secretsKeyArn'),
  ...secretInRegion('imageProviderKey'),
  ...secretInRegion('videoProviderKey'),
};

/**
 * A row that matches no task would never apply, a limit below every price would reject every task, and a price without a
 * row would use up a limit after few tasks of unknown outcome.
 */
function rateProblems(values: Values, paid: readonly PaidContract[]): string[] {
  const rows = config.spending
    .variables()
    .CREDIT_RATES.schema.safeParse(values.creditRates || undefined).data;
  const extras = (values.videoModelsExtra ?? '').split(',').flatMap((model) => model.trim() || []);
  const problems = (rows ?? [])
    .flatMap((row) => rowProblem(row, paid, extras) ?? [])
    .map((problem) => `creditRates: ${problem}`);
  const keepDefault = paid.filter(({ name, price }) => {
    const isForAll = (row: kinds.RateRow) => !price.variesBy.some((field) => row[field] !== undefined);
    return !rows?.some((row) => row.operation === name && isForAll(row));
  });
  const rates = [...(rows ?? []), ...keepDefault.map(({ price }) => price.rate)];
  const most = Number(values.creditsPerDay);
  if (most > 0 && rates.every((rate) => costOf(rate, 1, 1) > most))
    problems.push('creditsPerDay is below every rate: no caller could start a task.');
  // One that is missing is a problem of its own.
  const isLimited = (values.creditsPerDay || 'none') !== 'none' || Number(values.stageCreditsPerDay) > 0;
  const lacking = keepDefault.flatMap(({ name, price }) => (price.toldBy === 'reply' ? name : []));
  if (rows && isLimited && lacking.length > 0)
    problems.push(
      `creditRates must have a row for every task of ${lacking.join(' and of ')}, or creditsPerDay=none and stageCreditsPerDay=0: the default of 50 credits a second would use up a limit after few tasks (docs/spending.md).`,
    );
  return problems;
}

function rowProblem(
  { operation, model, resolution, seconds, task, frame, second }: kinds.RateRow,
  paid: readonly PaidContract[],
  extras: string[],
): string | undefined {
  const contract = paid.find(({ name }) => name === operation);
  if (contract === undefined)
    return `"${operation}" is not a paid operation. Choose from ${paid.map(({ name }) => name).join(', ')}.`;
  const named = Object.entries({ model, resolution, seconds }).filter(([, value]) => value !== undefined);
  const other = named.find(([field]) => !contract.price.variesBy.some((name) => name === field));
  if (other) return `the price of ${operation} does not depend on ${other[0]}.`;
  if ([task, frame, second].every((part) => part === undefined))
    return `a row of ${operation} has no price, so no limit would hold: give "task", "frame" or "second".`;
  if (second !== undefined && !contract.price.durationsOf)
    return `the price of ${operation} does not depend on seconds: give "task".`;
  const rules = { VIDEO_EXTEND_SOURCE: 'both', VIDEO_MODELS_EXTRA: extras } as const;
  const input = { model, resolution, duration: seconds };
  const issues = bodySchema(contract, () => rules).safeParse(input).error?.issues ?? [];
  const issue = issues.find(({ path }) =>
    named.some(([name]) => String(path[0]) === (name === 'seconds' ? 'duration' : name)),
  );
  return issue && `${String(issue.path[0])} of ${operation} ${issueSentence(issue, input)}.`;
}
