import { beforeAll, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { maxReceives } from '../../lib/uploads/extraction-queue.ts';
import { queues } from '../../tools/local/queues.ts';
import { type Part, referencesOf } from '../../infra/plugins/references.ts';
import { deniedTag } from '../../lib/bucket/bucket.ts';
import { unknownPath } from '@node-registry/site/build';
import { asText, plain as inText } from './intrinsics.ts';
import { ofType, type Packaged, packagedStage, properties, resource } from './packaging.ts';

/** Stages with fewer parts, the order of parts, and what must agree. */

let plain: Packaged;
let full: Packaged;
let minimal: Packaged;

beforeAll(async () => {
  [plain, full] = await Promise.all([packagedStage('direct'), packagedStage('full')]);
  minimal = await packagedStage('minimal');
});

test('the table comes after all that usually fails, because its protection would keep it from being taken back', () => {
  const before = [
    ...['S3BucketArchives', 'S3BucketArchivesPolicy', 'HttpApiStage', 'Downloads', 'ApiDomainMapping'],
    'ApiDomainRecord',
  ];
  const needed = [...referencesOf(resource(full, 'Table')), ...[resource(full, 'Table').DependsOn].flat()];

  expect(needed.sort()).toEqual(before.sort());
  // Alarms, the page that shows them, schedules and the reader of its stream come after it: they fail for no reason of
  // the account's.
  const after = Object.values(full.template.Resources).filter(
    (it) => referencesOf(it).includes('Table') || [it.DependsOn].flat().includes('Table'),
  );
  expect(new Set(after.map(({ Type }) => Type))).toEqual(
    new Set([
      'AWS::CloudWatch::Alarm',
      'AWS::CloudWatch::Dashboard',
      'AWS::Events::Rule',
      'AWS::Lambda::EventSourceMapping',
    ]),
  );
});

describe('the bucket', () => {
  const statements = (stage: Packaged) =>
    inText(properties(stage, 'S3BucketArchivesPolicy').PolicyDocument.Statement);

  const statementOf = (stage: Packaged, sid: string) =>
    statements(stage).find(({ Sid }: { Sid: string }) => Sid === sid);

  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/tagging-and-policies.html
  test('rejects archives with the mark of a ban to the distribution alone', () => {
    const { Effect, Principal, Action, Resource, Condition } = statementOf(plain, 'BannedArchives');

    expect([Effect, Principal, Action]).toEqual([
      'Deny',
      { Service: 'cloudfront.amazonaws.com' },
      's3:GetObject',
    ]);
    expect(Resource).toBe(`\${S3BucketArchives.Arn}/archives/*`);
    expect(Condition).toEqual({
      StringEquals: { [`s3:ExistingObjectTag/${deniedTag.Key}`]: deniedTag.Value },
    });
  });

  test('lets only the finalizer and its administrator set or take away that mark, where there is one', () => {
    const { Action, Condition } = statementOf(full, 'OnlyTheAdministratorMarks');

    expect(Action).toEqual(
      ['Put', 'Delete'].flatMap((verb) => [`s3:${verb}ObjectTagging`, `s3:${verb}ObjectVersionTagging`]),
    );
    expect(Condition.ArnNotEquals['aws:PrincipalArn']).toEqual([
      `\${FinalizeUploadRole.Arn}`,
      parameterSets.full.archiveAdministratorArn,
    ]);
    expect(statementOf(plain, 'OnlyTheAdministratorMarks')).toBeUndefined();
  });

  test('lets only the finalizer write or delete a published archive by default, and watchReads an object of its own', () => {
    const [, publishing] = statements(plain);
    const [{ PolicyDocument }] = properties(plain, 'WatchReadsRole').Policies;
    const writable = PolicyDocument.Statement.flatMap(({ Action, Resource }: Part) =>
      [Action].flat().includes('s3:PutObject') ? Resource.map((arn: Part) => asText(arn)) : [],
    );

    expect(publishing.Condition).toEqual({
      ArnNotEquals: { 'aws:PrincipalArn': [`\${FinalizeUploadRole.Arn}`, `\${WatchReadsRole.Arn}`] },
    });
    expect(writable.map((arn: string) => arn.split('/').slice(1).join('/'))).toEqual(
      ['archives', 'index', 'status', 'pages'].map((kind) => `${kind}/-watched`),
    );
  });

  test('protects both distributions by the web ACL, if there is one', () => {
    const acls = (stage: Packaged) =>
      ofType(stage, 'AWS::CloudFront::Distribution').map(([, it]) => it.DistributionConfig.WebACLId);

    expect([acls(plain), acls(full)]).toEqual([[undefined], Array(2).fill(parameterSets.full.webAclArn)]);
  });

  test('serves the world only published files and statuses, and as its root nothing', () => {
    const { Resource } = statementOf(plain, 'DownloadsOfPublicFiles');
    const { DefaultRootObject, CacheBehaviors, Logging } = properties(plain, 'Downloads').DistributionConfig;

    expect(Resource).toEqual(
      ['archives', 'index', 'status', 'images'].map((prefix) => `\${S3BucketArchives.Arn}/${prefix}/*`),
    );
    expect([DefaultRootObject, CacheBehaviors.length, Logging.Prefix]).toEqual(['none', 1, 'downloads/']);
    expect(properties(full, 'Downloads').DistributionConfig.DefaultRootObject).toBe('none');
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

  test('answers preflights, and serves the site without the sandbox of archives', () => {
    const { DefaultCacheBehavior, CacheBehaviors } = properties(full, 'Downloads').DistributionConfig;
    const behaviors = [DefaultCacheBehavior, ...CacheBehaviors].map((it) => [
      it.PathPattern,
      it.ResponseHeadersPolicyId.Ref,
      it.AllowedMethods.includes('OPTIONS') && it.OriginRequestPolicyId !== undefined,
    ]);
    const { CorsRules } = properties(full, 'S3BucketArchives').CorsConfiguration;

    const { ResponseHeadersPolicyId } = properties(full, 'Site').DistributionConfig.DefaultCacheBehavior;
    expect(behaviors.map(String)).toEqual([',DownloadsHeaders,true', 'index/*,IndexHeaders,true']);
    expect(ResponseHeadersPolicyId.Ref).toBe('SiteHeaders');
    expect(CorsRules.map(({ AllowedMethods }: Part) => AllowedMethods)).toEqual([['PUT'], ['GET', 'HEAD']]);
  });

  test('serves no one else when downloads have an address of their own', () => {
    expect(statements(minimal)).toHaveLength(2);
    expect(ofType(minimal, 'AWS::CloudFront::Distribution')).toEqual([]);
    for (const id of ['UpdateNodeLambdaFunction', 'BulkNodeVersionsLambdaFunction'])
      expect(properties(minimal, id).Environment.Variables.DOWNLOAD_BASE_URL).toBe(
        parameterSets.minimal.downloadBaseUrl,
      );
  });

  test('sends published archives to the queue of extractions, subscribed after its policy', () => {
    expect(resource(plain, 'S3BucketArchives').DependsOn).toContain('ExtractionsPolicy');
    expect(resource(full, 'S3BucketArchives').DependsOn).toContain('AccessLogsPolicy');
  });
});

const localQueues = {
  Extractions: queues.extractions,
  IndexChanges: queues.indexChanges,
  Notifications: queues.notifications,
};

test.each(Object.entries(localQueues))(
  'the queue %s matches the local stack',
  (id, { deadLetter, ...local }) => {
    const { DelaySeconds: delaySeconds, VisibilityTimeout, RedrivePolicy } = properties(full, id);

    expect({ ...(delaySeconds && { delaySeconds }), visibilitySeconds: VisibilityTimeout }).toEqual(local);
    expect(RedrivePolicy.maxReceiveCount).toBe(deadLetter.maxReceiveCount);
    if (id === 'Extractions') expect(RedrivePolicy.maxReceiveCount).toBe(maxReceives);
  },
);
