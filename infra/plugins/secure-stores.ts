import type { Template } from './framework.ts';
import type { Part } from './references.ts';

/** 14 days, SQS's maximum retention. */
const maxRetentionSeconds = 1_209_600;

/**
 * Rules for every bucket and queue, so that a new one can't lack them: encryption, TLS only, no public
 * access. A store has one policy: its name and "Policy", or the one that all other queues share, whose resource `*` is
 * each queue itself (AWSCloudFormation/latest/UserGuide/quickref-iam.html, scenario-sqs-policy).
 */
export function secureStores({ Resources }: Template): void {
  const shared: Part[] = [];
  for (const [id, { Type, Properties }] of Object.entries(Resources)) {
    // The framework secures its own.
    if (id === 'ServerlessDeploymentBucket') continue;
    if (Type === 'AWS::SQS::Queue') {
      Properties.SqsManagedSseEnabled = true;
      if (id.endsWith('Failures')) Properties.MessageRetentionPeriod = maxRetentionSeconds;
      const own = Resources[`${id}Policy`];
      if (own) takeTlsOnly(own, 'sqs:*', '*');
      else shared.push({ Ref: id });
    }
    if (Type === 'AWS::S3::Bucket') {
      const switches = ['BlockPublicAcls', 'BlockPublicPolicy', 'IgnorePublicAcls', 'RestrictPublicBuckets'];
      Properties.PublicAccessBlockConfiguration = Object.fromEntries(switches.map((name) => [name, true]));
      const ServerSideEncryptionByDefault = { SSEAlgorithm: 'AES256' };
      Properties.BucketEncryption = {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault }],
      };
      const Arn = { 'Fn::GetAtt': [id, 'Arn'] };
      takeTlsOnly(Resources[`${id}Policy`], 's3:*', [Arn, { 'Fn::Sub': `\${${id}.Arn}/*` }]);
    }
  }
  const Properties = { Queues: shared, PolicyDocument: { Version: '2012-10-17', Statement: [] } };
  Resources.QueuesPolicy = { Type: 'AWS::SQS::QueuePolicy', Properties };
  takeTlsOnly(Resources.QueuesPolicy, 'sqs:*', '*');
}

function takeTlsOnly(policy: Part, Action: string, Resource: Part): void {
  policy.Properties.PolicyDocument.Statement.unshift({
    Sid: 'OnlyOverTls',
    Effect: 'Deny',
    Principal: '*',
    Action,
    Resource,
    Condition: { Bool: { 'aws:SecureTransport': 'false' } },
  });
}
