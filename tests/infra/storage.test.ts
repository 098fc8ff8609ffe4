import { beforeAll, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { maxReceives } from '../../lib/uploads/extraction-queue.ts';
import { queues } from '../../tools/local/queues.ts';
import { type Part, referencesOf } from '../../infra/plugins/references.ts';
import { sitePage } from '../../packages/site/build.ts';
import { asText } from './intrinsics.ts';
import { ofType, type Packaged, packagedStage, properties, resource } from './packaging.ts';

let plain: Packaged;
let full: Packaged;
let minimal: Packaged;

beforeAll(async () => {
  [plain, full] = await Promise.all([packagedStage('direct'), packagedStage('full')]);
  minimal = await packagedStage('minimal');
});

const finalizer = { 'Fn::GetAtt': ['FinalizeUploadRole', 'Arn'] };

describe('the table', () => {
  test.each([
    ['costs by request', { BillingMode: 'PAY_PER_REQUEST' }],
    [
      'can be taken back to any second',
      { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
    ],
    ['is encrypted', { SSESpecification: { SSEEnabled: true, SSEType: 'KMS' } }],
    ['forgets what has expired', { TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true } }],
    ['cannot be deleted by mistake', { DeletionProtectionEnabled: true }],
  ])('%s', (_, expected) => {
    expect(properties(plain, 'Table')).toMatchObject(expected);
  });

  test('stays when the stage is removed or the table replaced, but not when its first deployment fails', () => {
    expect(resource(plain, 'Table')).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
  });

  test('comes after all that usually fails, because its protection would keep it from being taken back', () => {
    const before = ['S3BucketArchives', 'HttpApiStage', 'Downloads', 'ApiDomainMapping', 'ApiDomainRecord'];
    const needed = [...referencesOf(resource(full, 'Table')), ...[resource(full, 'Table').DependsOn].flat()];

    expect(needed).toEqual(expect.arrayContaining(before));
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

  test('serves no more in a second than the stage may cost, nor does its index', () => {
    const ceiling = { MaxReadRequestUnits: 12_000, MaxWriteRequestUnits: 4000 };
    const { OnDemandThroughput, GlobalSecondaryIndexes } = properties(plain, 'Table');

    expect(OnDemandThroughput).toEqual(ceiling);
    expect(GlobalSecondaryIndexes[0].OnDemandThroughput).toEqual(ceiling);
  });
});

describe('the bucket', () => {
  const all = {
    BlockPublicAcls: true,
    BlockPublicPolicy: true,
    IgnorePublicAcls: true,
    RestrictPublicBuckets: true,
  };
  const encryption = [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }];

  test.each([
    ['is not public, and cannot become so', { PublicAccessBlockConfiguration: all }],
    ['is encrypted', { BucketEncryption: { ServerSideEncryptionConfiguration: encryption } }],
    ['keeps what is overwritten or deleted', { VersioningConfiguration: { Status: 'Enabled' } }],
    [
      'owns all that is put into it',
      { OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] } },
    ],
  ])('%s', (_, expected) => {
    expect(properties(plain, 'S3BucketArchives')).toMatchObject(expected);
  });

  test('stays when the stage is removed or the bucket replaced, but not when its first deployment fails', () => {
    expect(resource(plain, 'S3BucketArchives')).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
  });

  test('forgets abandoned uploads after two days, images of callers after one, statuses after seven, deleted archives after thirty, and archives never', () => {
    const rules: Part[] = properties(plain, 'S3BucketArchives').LifecycleConfiguration.Rules;

    expect(rules).toEqual([
      expect.objectContaining({
        Prefix: 'staging/',
        ExpirationInDays: 2,
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
      }),
      expect.objectContaining({
        Prefix: 'images/',
        ExpirationInDays: 1,
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
      }),
      expect.objectContaining({
        Prefix: 'status/',
        ExpirationInDays: 7,
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
      }),
      expect.objectContaining({ Prefix: 'archives/', NoncurrentVersionExpiration: { NoncurrentDays: 30 } }),
      expect.objectContaining({ Prefix: 'index/', NoncurrentVersionExpiration: { NoncurrentDays: 1 } }),
    ]);
    expect(rules.at(-1)).not.toHaveProperty('ExpirationInDays');
  });

  test('takes uploads from browsers of the configured origins', () => {
    expect(properties(full, 'S3BucketArchives').CorsConfiguration.CorsRules).toEqual([
      expect.objectContaining({
        AllowedMethods: ['PUT'],
        AllowedHeaders: ['Content-Type'],
        AllowedOrigins: { 'Fn::Split': [',', parameterSets.full.corsOrigins] },
      }),
    ]);
  });

  test('denies access without TLS, and everybody but the finalizer to write or delete a published archive', () => {
    const [tls, publishing] = properties(plain, 'ArchivesPolicy').PolicyDocument.Statement;

    expect(tls).toMatchObject({
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
    expect(tls.Resource).toHaveLength(2);
    expect(publishing).toMatchObject({ Effect: 'Deny', Principal: '*' });
    expect(publishing.Action).toEqual(['s3:PutObject', 's3:DeleteObject', 's3:DeleteObjectVersion']);
    expect(asText(publishing.Resource)).toMatch(/\/archives\/\*$/);
    expect(publishing.Condition.ArnNotEquals['aws:PrincipalArn']).toEqual([finalizer]);
  });

  test('lets the role that the stage names delete archives, too', () => {
    const [, publishing] = properties(full, 'ArchivesPolicy').PolicyDocument.Statement;

    expect(publishing.Condition.ArnNotEquals['aws:PrincipalArn']).toEqual([
      finalizer,
      parameterSets.full.archiveAdministratorArn,
    ]);
  });

  test('serves the world only published files and statuses, through the distribution and over TLS', () => {
    const [, , grant, missing] = properties(plain, 'ArchivesPolicy').PolicyDocument.Statement;
    const { DistributionConfig } = properties(plain, 'Downloads');

    expect(grant).toMatchObject({ Effect: 'Allow', Action: 's3:GetObject' });
    expect(grant.Resource).toEqual(
      ['archives', 'index', 'status'].map((prefix) => ({
        'Fn::Sub': `\${S3BucketArchives.Arn}/${prefix}/*`,
      })),
    );
    expect(JSON.stringify(grant.Condition)).toContain('Downloads');
    // With this right, S3 answers 404 for what is not there, and would answer a listing for the root.
    expect(missing).toMatchObject({ Action: 's3:ListBucket', Condition: grant.Condition });
    expect(DistributionConfig.DefaultRootObject).toBe('none');
    expect(DistributionConfig.CustomErrorResponses).toEqual([{ ErrorCode: 404, ErrorCachingMinTTL: 2 }]);
    expect(DistributionConfig.DefaultCacheBehavior).toMatchObject({ ViewerProtocolPolicy: 'https-only' });
  });

  test('keeps one copy of a path, whatever headers, cookies, query or method it was asked with', () => {
    const { DistributionConfig } = properties(full, 'Downloads');
    const behaviors = [DistributionConfig.DefaultCacheBehavior, ...DistributionConfig.CacheBehaviors];

    expect(behaviors).toHaveLength(3);
    for (const behavior of behaviors) {
      // CachingOptimized: no header but Accept-Encoding, no cookie and no query reaches the key or the origin, and nothing
      // is kept for less than a second:
      // https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html
      expect(behavior.CachePolicyId).toBe('658327ea-f89d-4fab-a63d-7e88639e58f6');
      expect(behavior.AllowedMethods).toEqual(['GET', 'HEAD']);
      for (const opening of [
        'OriginRequestPolicyId',
        'ForwardedValues',
        'LambdaFunctionAssociations',
        'CachedMethods',
      ])
        expect(behavior).not.toHaveProperty(opening);
    }
    // An error that a malformed request earns is not kept as the file's: 404 is the only one with a time of its own.
    expect(DistributionConfig.CustomErrorResponses).toEqual([{ ErrorCode: 404, ErrorCachingMinTTL: 2 }]);
  });

  test('serves the site, also as its root, only if that is switched on', () => {
    const [, , grant] = properties(full, 'ArchivesPolicy').PolicyDocument.Statement;
    const { DefaultRootObject, CacheBehaviors } = properties(full, 'Downloads').DistributionConfig;
    const [index, site] = CacheBehaviors;

    expect(grant.Resource.at(-1)).toEqual({ 'Fn::Sub': `\${S3BucketArchives.Arn}/site/*` });
    expect(DefaultRootObject).toBe(sitePage);
    expect(index.PathPattern).toBe('index/*');
    expect(site).toMatchObject({ PathPattern: 'site/*', ResponseHeadersPolicyId: { Ref: 'SiteHeaders' } });
    expect(sitePage).toMatch(/^site\//);
    // The page has a policy of its own, and the sandbox of downloads would keep its scripts from running.
    expect(
      properties(full, 'SiteHeaders').ResponseHeadersPolicyConfig.SecurityHeadersConfig,
    ).not.toHaveProperty('ContentSecurityPolicy');
    expect(asText(full.template.Outputs.SiteUrl.Value)).toContain(sitePage);
    expect(properties(plain, 'Downloads').DistributionConfig.CacheBehaviors).toHaveLength(1);
    expect(plain.template.Outputs).not.toHaveProperty('SiteUrl');
  });

  test('serves no one else when downloads have an address of their own', () => {
    expect(properties(minimal, 'ArchivesPolicy').PolicyDocument.Statement).toHaveLength(2);
    expect(ofType(minimal, 'AWS::CloudFront::Distribution')).toEqual([]);
  });

  test('logs each access, and so do downloads, only where that is switched on', () => {
    expect(ofType(plain, 'AWS::S3::Bucket').map(([id]) => id)).not.toContain('AccessLogs');
    expect(properties(plain, 'Downloads').DistributionConfig).not.toHaveProperty('Logging');
    expect(properties(full, 'S3BucketArchives').LoggingConfiguration).toEqual({
      DestinationBucketName: { Ref: 'AccessLogs' },
      LogFilePrefix: 'bucket/',
    });
    expect(properties(full, 'Downloads').DistributionConfig.Logging.Bucket).toEqual({
      'Fn::GetAtt': ['AccessLogs', 'DomainName'],
    });
  });
});

test('serves downloads that cannot be run, framed or guessed to be of another type, to configured origins', () => {
  const { DistributionConfig } = properties(full, 'Downloads');
  const { SecurityHeadersConfig, CorsConfig } = properties(
    full,
    'DownloadsHeaders',
  ).ResponseHeadersPolicyConfig;

  expect(DistributionConfig.DefaultCacheBehavior.ResponseHeadersPolicyId).toEqual({
    Ref: 'DownloadsHeaders',
  });
  expect(SecurityHeadersConfig).toMatchObject({
    ContentTypeOptions: { Override: true },
    ContentSecurityPolicy: { ContentSecurityPolicy: expect.stringContaining('sandbox') },
    FrameOptions: { FrameOption: 'DENY' },
  });
  expect(CorsConfig.AccessControlAllowOrigins.Items).toEqual({
    'Fn::Split': [',', parameterSets.full.corsOrigins],
  });
});

describe('the queue of failures of the finalizer', () => {
  const name = 'FinalizeUpload';
  const statements = () => properties(plain, 'FailuresPolicy').PolicyDocument.Statement;

  test('accepts TLS only', () => {
    expect(statements()[0]).toMatchObject({
      Effect: 'Deny',
      Principal: '*',
      Action: 'sqs:*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
  });

  test('takes scheduled sweeps that could not be delivered, and nobody else’s events', () => {
    const { Targets } = properties(plain, `${name}EventsRuleSchedule1`);

    expect(Targets[0].DeadLetterConfig.Arn).toEqual({ 'Fn::GetAtt': [`${name}Failures`, 'Arn'] });
    expect(statements()[1]).toMatchObject({
      Principal: { Service: 'events.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Condition: {
        ArnEquals: { 'aws:SourceArn': { 'Fn::GetAtt': [`${name}EventsRuleSchedule1`, 'Arn'] } },
      },
    });
  });

  test('gets what failed three times within six hours, and keeps it for two weeks', () => {
    expect(properties(plain, `${name}LambdaEvConf`)).toMatchObject({
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 21600,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': [`${name}Failures`, 'Arn'] } } },
    });
    expect(properties(plain, `${name}Failures`)).toEqual({
      MessageRetentionPeriod: 1209600,
      SqsManagedSseEnabled: true,
    });
  });
});

describe('the queue of extractions', () => {
  const statements = (policy: string) => properties(plain, policy).PolicyDocument.Statement;

  test('hears from S3 what is published, once S3 may tell it', () => {
    expect(properties(plain, 'S3BucketArchives').NotificationConfiguration.QueueConfigurations).toEqual([
      {
        Event: 's3:ObjectCreated:*',
        Filter: { S3Key: { Rules: [{ Name: 'prefix', Value: 'archives/' }] } },
        Queue: { 'Fn::GetAtt': ['Extractions', 'Arn'] },
      },
    ]);
    expect(resource(plain, 'S3BucketArchives').DependsOn).toContain('ExtractionsPolicy');
    expect(statements('ExtractionsPolicy')[1]).toMatchObject({
      Principal: { Service: 's3.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Condition: {
        StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
        ArnEquals: { 'aws:SourceArn': expect.anything() },
      },
    });
  });

  test.each(['ExtractionsPolicy', 'ExtractionsFailuresPolicy'])('accepts only TLS: %s', (policy) => {
    expect(statements(policy)[0]).toMatchObject({
      Effect: 'Deny',
      Action: 'sqs:*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
  });

  // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html: six times the function's timeout.
  test('calls the function with one message at a time, and again after six times its timeout', () => {
    const [[, mapping] = []] = ofType(plain, 'AWS::Lambda::EventSourceMapping').filter(([id]) =>
      id.startsWith('ExtractHostNodes'),
    );

    expect(mapping).toMatchObject({
      BatchSize: 1,
      EventSourceArn: { 'Fn::GetAtt': ['Extractions', 'Arn'] },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 20 },
    });
    expect(properties(plain, 'Extractions').VisibilityTimeout).toBe(
      6 * properties(plain, 'ExtractHostNodesLambdaFunction').Timeout,
    );
  });

  test('matches the local stack', () => {
    const { DelaySeconds, VisibilityTimeout, RedrivePolicy } = properties(plain, 'Extractions');

    expect({ DelaySeconds, VisibilityTimeout, maxReceiveCount: RedrivePolicy.maxReceiveCount }).toEqual({
      DelaySeconds: queues.extractions.delaySeconds,
      VisibilityTimeout: queues.extractions.visibilitySeconds,
      maxReceiveCount: queues.extractions.deadLetter.maxReceiveCount,
    });
    expect(RedrivePolicy).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': ['ExtractionsFailures', 'Arn'] },
      maxReceiveCount: maxReceives,
    });
  });
});

describe('the finalizer', () => {
  test('runs for what arrives under staging only', () => {
    expect(properties(plain, 'S3BucketArchives').NotificationConfiguration.LambdaConfigurations).toEqual([
      {
        Event: 's3:ObjectCreated:*',
        Filter: { S3Key: { Rules: [{ Name: 'prefix', Value: 'staging/' }] } },
        Function: { 'Fn::GetAtt': ['FinalizeUploadLambdaFunction', 'Arn'] },
      },
    ]);
    expect(properties(plain, 'FinalizeUploadLambdaPermissionArchivesS3').SourceAccount).toEqual({
      Ref: 'AWS::AccountId',
    });
  });

  test('sweeps uploads every hour, extractions every ten minutes and spending each minute', () => {
    expect(
      ofType(plain, 'AWS::Events::Rule').map(([, rule]) => [rule.ScheduleExpression, rule.State]),
    ).toEqual([
      ['rate(1 hour)', 'ENABLED'],
      ...Array(4).fill(['rate(1 minute)', 'ENABLED']),
      ['rate(10 minutes)', 'ENABLED'],
    ]);
  });

  test('sweeps each part of the spending by a schedule of its own, and notices if one stops', () => {
    const rules = ofType(plain, 'AWS::Events::Rule').filter(([id]) => id.startsWith('SweepSpending'));
    const parts = rules.map(([, { Targets }]) => JSON.parse(Targets[0].Input).part);
    const { Threshold, Period, Statistic } = properties(plain, 'SweepMissingSpendingAlarm');
    const runsOf = (schedules: number) => (schedules * Period) / 60;

    expect(parts).toEqual(rules.map((_, index) => ({ index, of: rules.length })));
    expect(Statistic).toBe('SampleCount');
    expect(Threshold).toBeGreaterThan(runsOf(rules.length - 1));
    expect(Threshold).toBeLessThan(runsOf(rules.length));
  });
});

test('downloads have the distribution’s address, or the one that is given', () => {
  for (const id of ['UpdateNodeLambdaFunction', 'BulkNodeVersionsLambdaFunction']) {
    const address = (stage: Packaged) =>
      asText(properties(stage, id).Environment.Variables.DOWNLOAD_BASE_URL);

    expect(address(full)).toMatch(/^https:\/\/.*Downloads\.DomainName/);
    expect(address(minimal)).toBe('https://cdn.example.com');
  }
});
