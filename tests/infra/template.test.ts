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
import { adoptionOf } from '../../tools/restore/adoption.ts';
import { plain as inText } from './intrinsics.ts';
import { functionNames, ofType, type Packaged, packagedStage, properties } from './packaging.ts';

/* The reviewed template of a stage with the default parameters; stages with more parts, and with fewer; what must agree. */

const [plain, full, minimal] = await Promise.all([
  packagedStage('default'),
  packagedStage('full'),
  packagedStage('minimal'),
]);
const contracts = await loadContracts();
test('is the reviewed tests/infra/template.json by default, which npm run template writes', () => {
  const { file, template } = plain;

  // A stage is deployed in minutes, and CloudFormation takes 500.
  const counts = [template, full.template].map(({ Resources }) => Object.keys(Resources).length);
  expect(Math.max(0, ...counts)).toBeLessThanOrEqual(220);
  expect(reviewed(readFileSync(file, 'utf8'))).toBe(readFileSync(reviewedFile, 'utf8'));
});

test('has a dashboard that is JSON where the stage asks for one', () => {
  expect(JSON.parse(inText(properties(full, 'Dashboard').DashboardBody)).widgets).toHaveLength(15);
});

describe('the API', () => {
  test('has the routes and methods of self-service where it is on', () => {
    const routes = ofType(full, 'AWS::ApiGatewayV2::Route').map(([, { RouteKey }]) => RouteKey);

    expect(routes).toContain('GET /users/publishers/');
    expect(properties(full, 'HttpApi').CorsConfiguration.AllowMethods).toEqual([
      ...['GET', 'POST', 'PUT', 'DELETE'],
    ]);
  });

  test('lets browsers read every header that is promised', () => {
    const { ExposeHeaders } = properties(full, 'HttpApi').CorsConfiguration;
    const promised = Object.keys(answerHeaders).filter((name) => name !== 'WWW-Authenticate');

    expect(ExposeHeaders).toEqual(expect.arrayContaining(promised));
  });

  test('lets the page for accounts call, and says where it is', () => {
    const { AllowOrigins } = properties(full, 'HttpApi').CorsConfiguration;
    const { ACCOUNT_URL } = properties(full, 'SelfServiceLambdaFunction').Environment.Variables;

    expect(AllowOrigins).toEqual({
      'Fn::Split': [',', `${parameterSets.full.corsOrigins},https://account.example.com`],
    });
    expect(ACCOUNT_URL).toBe('https://account.example.com/account/');
  });

  test('closes its generated address if it is told so', () => {
    expect(properties(full, 'HttpApi').DisableExecuteApiEndpoint).toBe(true);
  });
});

describe('the functions', () => {
  test('set concurrency aside for the proxies and the finalizer', () => {
    const reserved = ofType(full, 'AWS::Lambda::Function').flatMap(
      ([, { FunctionName, ReservedConcurrentExecutions: count }]) =>
        count === undefined ? [] : [[FunctionName.split('-').at(-1), count]],
    );
    const proxies = contracts.filter(({ price }) => price !== undefined).map(({ name }) => [name, 10]);

    expect(Object.fromEntries(reserved)).toEqual({ ...Object.fromEntries(proxies), finalizeUpload: 5 });
  });

  test('get another variable, and with it new instances, for a restart', () => {
    const lambdas = ofType(minimal, 'AWS::Lambda::Function');

    for (const [, { Environment }] of lambdas)
      expect(Environment.Variables.RESTART).toBe(parameterSets.minimal.restart);
    expect(lambdas.length).toBeGreaterThan(15);
  });

  test.each(functionNames)('gives %s exactly the variables that its bundle reads', async (name) => {
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
});

test.each(Object.entries<Lane>(lanes))('the lane %s has an event source of its function', (lane, its) => {
  const callers = ofType(full, 'AWS::Lambda::EventSourceMapping').filter(([, { EventSourceArn }]) =>
    inText(EventSourceArn).includes(`{${upperFirst(lane)}Queue.`),
  );
  const called = callers.map(([, { FunctionName }]) => inText(FunctionName));

  expect(called).toEqual([expect.stringContaining(`{${upperFirst(its.function)}LambdaFunction`)]);
  expect(callers.flatMap(([, { FunctionResponseTypes }]) => FunctionResponseTypes)).toEqual([
    'ReportBatchItemFailures',
  ]);
  expect(its.leaseSeconds).toBe(properties(full, `${upperFirst(its.function)}LambdaFunction`).Timeout + 30);
});

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

describe('the bucket', () => {
  const statements = (stage: Packaged) =>
    inText(properties(stage, 'S3BucketArchivesPolicy').PolicyDocument.Statement);

  const statementOf = (stage: Packaged, sid: string) =>
    statements(stage).find(({ Sid }: { Sid: string }) => Sid === sid);

  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/tagging-and-policies.html
  test('rejects archives with the mark of a ban to the distribution', () => {
    const { Effect, Condition } = statementOf(full, 'BannedArchives');

    expect([Effect, Condition.StringEquals]).toEqual([
      'Deny',
      { [`s3:ExistingObjectTag/${deniedTag.Key}`]: deniedTag.Value },
    ]);
  });

  test('lets only the finalizer, the lane of bans and its administrator set or take away that mark', () => {
    const { Action, Condition } = statementOf(full, 'OnlyTheAdministratorMarks');

    expect(Action).toEqual(
      ['Put', 'Delete'].flatMap((verb) => [`s3:${verb}ObjectTagging`, `s3:${verb}ObjectVersionTagging`]),
    );
    expect(Condition.ArnNotEquals['aws:PrincipalArn']).toEqual([
      `\${FinalizeUploadRole.Arn}`,
      `\${AlignRegistryRole.Arn}`,
      parameterSets.full.archiveAdministratorArn,
      `\${AdministrationRole.Arn}`,
    ]);
  });

  test('protects all distributions by the web ACL', () => {
    const acls = ofType(full, 'AWS::CloudFront::Distribution').map(
      ([, it]) => it.DistributionConfig.WebACLId,
    );

    expect(acls).toEqual(Array(3).fill(parameterSets.full.webAclArn));
  });

  test('shows a page for what is missing on the site, and nothing but pages and the index', () => {
    const { Aliases, CustomErrorResponses } = properties(full, 'Site').DistributionConfig;

    expect(CustomErrorResponses).toMatchObject([
      { ErrorCode: 404, ResponseCode: 404, ResponsePagePath: `/${unknownPath}` },
    ]);
    expect(Aliases).toEqual(['nodes.example.com']);
    expect(statementOf(full, 'PagesOfTheSite').Resource).toEqual(
      ['index', 'pages', 'site'].map((prefix) => `\${S3BucketArchives.Arn}/${prefix}/*`),
    );
    // CloudFront's runtime has nothing of Node, and at most 10 KB.
    expect(properties(full, 'PageAddresses').FunctionCode).toMatch(/^[\s\S]{100,10000}$/);
  });

  test('serves the page for accounts from an origin that has nothing else, with the headers of the local one', () => {
    const { Aliases, Origins, DefaultCacheBehavior } = properties(full, 'Account').DistributionConfig;
    const { SecurityHeadersConfig: its, CustomHeadersConfig } = properties(
      full,
      'AccountHeaders',
    ).ResponseHeadersPolicyConfig;
    const origins = [
      ...['https://api.example.com', 'https://issuer.example.com', 'https://login.example.com'],
    ] as const;
    const local = accountHeaders({ apiUrl: origins[0], issuers: origins.slice(1) });

    expect([Aliases, Origins[0].OriginPath]).toEqual([['account.example.com'], '/account']);
    expect(DefaultCacheBehavior.AllowedMethods).toEqual(['GET', 'HEAD']);
    expect(statementOf(full, 'FilesOfTheAccountPage')).toMatchObject({
      Resource: `\${S3BucketArchives.Arn}/account/*`,
      Condition: { StringEquals: { 'aws:SourceArn': expect.stringMatching(/\$\{Account\}$/) } },
    });
    expect(local['content-security-policy']).toContain(`connect-src 'self' ${origins.join(' ')};`);
    expect({
      'content-security-policy': its.ContentSecurityPolicy.ContentSecurityPolicy,
      'referrer-policy': its.ReferrerPolicy.ReferrerPolicy,
      'x-content-type-options': its.ContentTypeOptions.Override && 'nosniff',
      ...Object.fromEntries(CustomHeadersConfig.Items.map((it: Part) => [it.Header, it.Value])),
    }).toEqual(local);
  });

  test('serves no one else when downloads have an address of their own', () => {
    expect(statements(minimal)).toHaveLength(2);
    expect(ofType(minimal, 'AWS::CloudFront::Distribution')).toEqual([]);
    for (const id of ['UpdateNodeLambdaFunction', 'BulkNodeVersionsLambdaFunction'])
      expect(properties(minimal, id).Environment.Variables.DOWNLOAD_BASE_URL).toBe(
        parameterSets.minimal.downloadBaseUrl,
      );
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
