import { beforeAll, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { maxReceives } from '../../lib/uploads/extraction-queue.ts';
import { queues } from '../../tools/local/queues.ts';
import { referencesOf } from '../../infra/plugins/references.ts';
import { deniedTag } from '../../lib/bucket/bucket.ts';
import { unknownPath } from '@node-registry/site/build';
import { plain as inText } from './intrinsics.ts';
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
});

describe('the bucket', () => {
  const statements = (stage: Packaged) =>
    inText(properties(stage, 'S3BucketArchivesPolicy').PolicyDocument.Statement);

  const statementOf = (stage: Packaged, sid: string) =>
    statements(stage).find(({ Sid }: { Sid: string }) => Sid === sid);

  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/tagging-and-policies.html
  test('rejects archives with the mark of a ban to the distribution', () => {
    const { Effect, Condition } = statementOf(plain, 'BannedArchives');

    expect([Effect, Condition.StringEquals]).toEqual([
      'Deny',
      { [`s3:ExistingObjectTag/${deniedTag.Key}`]: deniedTag.Value },
    ]);
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

  test('protects both distributions by the web ACL, if there is one', () => {
    const acls = (stage: Packaged) =>
      ofType(stage, 'AWS::CloudFront::Distribution').map(([, it]) => it.DistributionConfig.WebACLId);

    expect([acls(plain), acls(full)]).toEqual([[undefined], Array(2).fill(parameterSets.full.webAclArn)]);
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

  test('serves no one else when downloads have an address of their own', () => {
    expect(statements(minimal)).toHaveLength(2);
    expect(ofType(minimal, 'AWS::CloudFront::Distribution')).toEqual([]);
    for (const id of ['UpdateNodeLambdaFunction', 'BulkNodeVersionsLambdaFunction'])
      expect(properties(minimal, id).Environment.Variables.DOWNLOAD_BASE_URL).toBe(
        parameterSets.minimal.downloadBaseUrl,
      );
  });
});

const localQueues = {
  Extractions: queues.extractions,
  IndexChanges: queues.indexChanges,
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
