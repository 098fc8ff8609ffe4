import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { runProgram } from '@node-registry/testing/shell';
import { type Part, referencesOf } from '../../infra/plugins/references.ts';
import { adoptionOf } from '../../tools/restore/adoption.ts';
import { queues } from '../../tools/local/queues.ts';
import { deniedTag } from '../../lib/bucket/bucket.ts';
import { accountHeaders } from '@node-registry/site/account';
import { unknownPath } from '@node-registry/site/build';
import { loadOperations } from '../../infra/operations.ts';
import { upperFirst } from '../../infra/template/alarm-resources.ts';
import { type Lane, lanes } from '../../lib/work/lanes.ts';
import { plain as inText } from './intrinsics.ts';
import { ofType, type Packaged, packagedStage, properties } from './packaging.ts';

/* Stages with more parts than the reviewed template, and with fewer; what must agree. */

let full: Packaged;
let minimal: Packaged;

beforeAll(async () => {
  [full, minimal] = await Promise.all([packagedStage('full'), packagedStage('minimal')]);
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

describe('the functions', () => {
  test('set concurrency aside for the proxies and the finalizer', async () => {
    const proxies = (await loadOperations()).filter(({ contract }) => contract.price !== undefined);
    const reserved = ofType(full, 'AWS::Lambda::Function').flatMap(([, it]) =>
      it.ReservedConcurrentExecutions === undefined
        ? []
        : [[it.FunctionName.replace('node-registry-prod-', ''), it.ReservedConcurrentExecutions]],
    );

    expect(Object.fromEntries(reserved)).toEqual({
      ...Object.fromEntries(proxies.map(({ contract }) => [contract.name, 10])),
      finalizeUpload: 5,
    });
  });
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
  const { deadLetter, ...local } = queues.indexChanges;
  const { DelaySeconds: delaySeconds, VisibilityTimeout, RedrivePolicy } = properties(full, 'IndexChanges');

  expect({ ...(delaySeconds && { delaySeconds }), visibilitySeconds: VisibilityTimeout }).toEqual(local);
  expect(RedrivePolicy.maxReceiveCount).toBe(deadLetter.maxReceiveCount);
  expect(VisibilityTimeout).toBe(6 * properties(full, 'WriteIndexLambdaFunction').Timeout);
});
