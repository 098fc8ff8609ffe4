import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { RegoEngine, TemplateFile } from '@aws/cloudformation-validate';
import { describe, expect, test } from '@jest/globals';
import { directory } from '@node-registry/testing/folders';
import { runProgram } from '@node-registry/testing/shell';
import { unzip } from '@node-registry/testing/unzip';
import { accountHeaders } from '@node-registry/site/account';
import { unknownPath } from '@node-registry/site/build';
import { loadContracts } from '../../infra/operations.ts';
import { variables } from '../../infra/parameters/parameters.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { foldConditions } from '../../infra/plugins/fold-conditions.ts';
import { type Part, referencesOf } from '../../infra/plugins/references.ts';
import { upperFirst } from '../../infra/template/alarm-resources.ts';
import { deniedTag } from '../../lib/bucket/bucket.ts';
import * as config from '../../lib/config.ts';
import { type Lane, lanes } from '../../lib/work/lanes.ts';
import { reviewed, reviewedFile } from '../../tools/documents/template.ts';
import { queues } from '../../tools/local/queues.ts';
import { answerHeaders } from '../../tools/openapi/headers.ts';
import { adoptionOf } from '../../tools/restore/adopt.ts';
import { plain as inText } from './intrinsics.ts';
import { functionNames, type Packaged, packagedStage, properties } from './packaging.ts';

/* The reviewed templates of stages with all kinds of parameters, and what in them must agree with the code. */

const [usual, direct, minimal, full] = await Promise.all([
  packagedStage('default'),
  packagedStage('direct'),
  packagedStage('minimal'),
  packagedStage('full'),
]);
const contracts = await loadContracts();

test('are the reviewed tests/infra/template.json, which npm run template writes', () => {
  const textOf = ({ file }: Packaged) => readFileSync(file, 'utf8');
  const templates = {
    default: textOf(usual),
    direct: textOf(direct),
    minimal: textOf(minimal),
    full: textOf(full),
  };

  expect(reviewed(templates)).toBe(readFileSync(reviewedFile, 'utf8'));
  // A stage is deployed in minutes, and CloudFormation takes 500.
  expect(Object.keys(full.template.Resources).length).toBeLessThanOrEqual(220);
});

test('has a dashboard that is JSON where the stage asks for one', () => {
  expect(JSON.parse(inText(properties(full, 'Dashboard').DashboardBody)).widgets).toHaveLength(15);
});

test('the API lets browsers read every header that is promised', () => {
  const { ExposeHeaders } = properties(full, 'HttpApi').CorsConfiguration;
  const promised = Object.keys(answerHeaders).filter((name) => name !== 'WWW-Authenticate');

  expect(ExposeHeaders).toEqual(expect.arrayContaining(promised));
});

test.each(functionNames)('%s gets exactly the variables that its bundle reads', async (name) => {
  const files = await unzip(full.zips.get(name) ?? Buffer.alloc(0));
  const bundle = [...files.values()].map(String).join('\n');
  // A stage has its default.
  const settable = Object.keys(variables).filter((variable) => variable !== 'MAX_PENDING_VERSIONS');
  const read = settable.filter((variable) => new RegExp(`\\b${variable}:`).test(bundle));
  const { Environment } = properties(full, `${upperFirst(name)}LambdaFunction`);
  const given = Object.keys(Environment.Variables).filter((variable) => variable !== 'RESTART');

  expect(given.filter((variable) => !read.includes(variable))).toEqual([]);
  // Lambda sets those of AWS. An endpoint brings the schemas of all, and bulk the check of tokens that it never calls.
  const contract = contracts.find((each) => each.name === name);
  const unused = [config.videoRules, ...(name === 'bulkNodeVersions' ? [config.tokens] : [])];
  const isEndpoint = contract !== undefined || name === 'selfService';
  const brought = isEndpoint && contract?.notifies?.provider !== 'video' ? unused : [];
  expect(read.filter((variable) => !given.includes(variable) && !variable.startsWith('AWS_'))).toEqual(
    Object.keys(variables).filter((variable) =>
      brought.some((concern) => variable in concern.variables() && !given.includes(variable)),
    ),
  );
});

test.each(Object.entries<Lane>(lanes))(
  'the lane %s has a lease as long as its function may run',
  (_, its) => {
    expect(its.leaseSeconds).toBe(properties(full, `${upperFirst(its.function)}LambdaFunction`).Timeout + 30);
  },
);

test('what a removed stage leaves is adopted with its parameters, and refers to nothing else', () => {
  const { template, resources } = adoptionOf(full.template as never, 'arn:of-the-secret');
  const ids = ['Table', 'S3BucketArchives', 'AccessLogs', 'NotificationSigningKey'];

  expect(Object.keys(template.Resources)).toEqual(ids);
  expect(ids.filter((id) => template.Resources[id]?.DeletionPolicy === undefined)).toEqual([]);
  expect(referencesOf(template.Resources)).toEqual([]);
  expect(template.Metadata).toEqual({ NodeRegistryParameters: parameterSets.full });
  expect(resources).toMatchObject([
    { ResourceType: 'AWS::DynamoDB::Table', ResourceIdentifier: { TableName: 'node-registry-prod' } },
    { ResourceIdentifier: { BucketName: parameterSets.full.bucketName } },
    { LogicalResourceId: 'AccessLogs', ResourceIdentifier: { BucketName: 'archives-of-the-tests-logs' } },
    { ResourceIdentifier: { Id: 'arn:of-the-secret' } },
  ]);
  expect(() => adoptionOf(full.template as never)).toThrow('give its ARN with --secret');
});

test('adopt says what to run first if no stage is packaged', async () => {
  const { stderr } = await runProgram(process.execPath, [resolve('tools/restore/adopt.ts')], { cwd: '/' });

  expect(stderr).toBe('No stage is packaged here: run npm run package with its parameters first.\n');
});

describe('the bucket and its distributions', () => {
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/tagging-and-policies.html
  test('rejects archives with the mark of a ban to the distribution', () => {
    const { Statement } = properties(full, 'S3BucketArchivesPolicy').PolicyDocument;
    const { Effect, Condition } = Statement.find(({ Sid }: Part) => Sid === 'BannedArchives');

    expect([Effect, Condition.StringEquals]).toEqual([
      'Deny',
      { [`s3:ExistingObjectTag/${deniedTag.Key}`]: deniedTag.Value },
    ]);
  });

  test('shows the page of the site for what is missing there', () => {
    const { CustomErrorResponses } = properties(full, 'Site').DistributionConfig;

    expect(CustomErrorResponses).toMatchObject([
      { ErrorCode: 404, ResponseCode: 404, ResponsePagePath: `/${unknownPath}` },
    ]);
    // CloudFront's runtime has nothing of Node, and at most 10 KB.
    expect(properties(full, 'PageAddresses').FunctionCode).toMatch(/^[\s\S]{100,10000}$/);
  });

  test('serves the page for accounts with the headers of the local one', () => {
    const { SecurityHeadersConfig: its, CustomHeadersConfig } = properties(
      full,
      'AccountHeaders',
    ).ResponseHeadersPolicyConfig;
    const origins = [
      ...['https://api.example.com', 'https://issuer.example.com', 'https://login.example.com'],
    ] as const;
    const local = accountHeaders({ apiUrl: origins[0], issuers: origins.slice(1) });

    expect(local['content-security-policy']).toContain(`connect-src 'self' ${origins.join(' ')};`);
    expect({
      'content-security-policy': its.ContentSecurityPolicy.ContentSecurityPolicy,
      'referrer-policy': its.ReferrerPolicy.ReferrerPolicy,
      'x-content-type-options': its.ContentTypeOptions.Override && 'nosniff',
      ...Object.fromEntries(CustomHeadersConfig.Items.map((it: Part) => [it.Header, it.Value])),
    }).toEqual(local);
  });
});

// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html: six times the function's timeout.
test('the queue of index changes matches its function and the local stack', () => {
  const { DelaySeconds, VisibilityTimeout, RedrivePolicy } = properties(full, 'IndexChanges');

  expect([DelaySeconds, VisibilityTimeout]).toEqual([undefined, queues.indexChanges]);
  expect(RedrivePolicy.maxReceiveCount).toBe(10);
  expect(VisibilityTimeout).toBe(6 * properties(full, 'WriteIndexLambdaFunction').Timeout);
});

const acceptedWarnings = [
  // The framework also states dependencies that a reference enforces.
  'W3005',
  // It names the bucket by text where S3 may invoke the finalizer: the bucket itself waits for that permission.
  'W9002',
  // Numbers from the command line are text in the template. CloudFormation converts them.
  'W9003',
];

const engine = new RegoEngine();

/** What CloudFormation's resource schemas and the rules of cfn-lint find. */
function problemsIn(file: string): string[] {
  const { status, diagnostics } = engine.validateStandard(new TemplateFile(file));
  expect(status).toBe('OK');
  return diagnostics
    .filter(({ severity, ruleId }) => !/INFO|DEBUG/.test(severity) && !acceptedWarnings.includes(ruleId))
    .map(({ ruleId, message, entity }) => `${entity?.logicalId}: ${ruleId} ${message}`);
}

// The other sets have no resource that is not in one of these.
test.each(Object.entries({ minimal, full }))(
  'the stage with the %s parameters passes CloudFormation’s schemas and cfn-lint’s rules, which find a wrong property',
  async (set, { file, template }) => {
    expect(problemsIn(file)).toEqual([]);
    const changed = join(directory, `${set}.json`);
    await writeFile(changed, JSON.stringify(template).replace('"TableName":', '"Speed":1,$&'));

    expect(problemsIn(changed)).toEqual([expect.stringMatching(/^Table: .*Speed/)]);
  },
);

test('a part whose condition nothing decides is an error', () => {
  const template = { Resources: {}, Outputs: { Odd: { Condition: 'IsOdd' } } };

  expect(() => foldConditions(template, {})).toThrow('Nothing decides the condition IsOdd.');
});
