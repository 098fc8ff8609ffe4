import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { signingKeysKey } from '../../lib/store/keys.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { asText } from './intrinsics.ts';
import { type Packaged, packagedStage, type Template } from './packaging.ts';

let stage: Packaged;
let direct: Packaged;

beforeAll(async () => {
  [stage, direct] = await Promise.all([packagedStage('full'), packagedStage('direct')]);
});

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: Part;
  Condition?: Part;
}

/** The statements of each role. */
function statements({ Resources }: Template): Map<string, Statement[]> {
  const roles = Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::IAM::Role');
  return new Map(
    roles.map(([name, { Properties }]) => [
      name,
      Properties.Policies.flatMap(({ PolicyDocument }: Part) => PolicyDocument.Statement),
    ]),
  );
}

function granting(action: string): string[] {
  const all = [...statements(stage.template)].flatMap(([role, list]) =>
    list
      .filter(({ Action }) => [Action].flat().includes(action))
      .flatMap(({ Resource }) => [Resource].flat().map((resource) => `${role} ${asText(resource)}`)),
  );
  return all.sort();
}

function objects(key: string): string {
  return `arn:\${AWS::Partition}:s3:::${parameterSets.full.bucketName}/${key}`;
}

/** How every resource of a service in this account and region begins. */
function own(service: string): string {
  return `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}`;
}

const tableArn = `${own('dynamodb')}:table/node-registry-prod`;

function matches(pattern: string, key: string): boolean {
  return pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern;
}

function inWords({ Effect, Action, Resource, Condition }: Statement): string {
  const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
  const condition = keys
    ? ` with keys ${keys.join(', ')}`
    : Condition
      ? ` when ${conditionText(Condition)}`
      : '';
  const what = [Action].flat().join(', ');
  const where = [Resource].flat().map(asText).join(', ').replaceAll(tableArn, `\${Table.Arn}`);
  return `${Effect} ${what} on ${where}${condition}`;
}

function conditionText(condition: Part): string {
  return Object.entries<Part>(condition)
    .flatMap(([operator, tests]) =>
      Object.entries<Part>(tests).map(
        ([key, value]) => `${key} ${operator} ${[value].flat().map(asText).join(' or ')}`,
      ),
    )
    .join(' and ');
}

/** All but the unknown route write or read records. */
const functionsWithTable = 14;

describe('the roles', () => {
  test('grant exactly what tests/infra/statements.json says', () => {
    const words = [...statements(stage.template)].map(([role, list]) => [role, list.map(inWords)]);

    expect(Object.fromEntries(words)).toEqual(
      JSON.parse(readFileSync('tests/infra/statements.json', 'utf8')),
    );
  });

  test('exist once per function, for Lambda only', () => {
    const functions = Object.values(stage.template.Resources).filter(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    );
    const roles = functions.map(({ Properties }) => Properties.Role['Fn::GetAtt'][0]);

    expect(new Set(roles).size).toBe(15);
    for (const role of roles) {
      const trust = stage.template.Resources[role]?.Properties.AssumeRolePolicyDocument.Statement;
      expect(trust).toEqual([
        { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' },
      ]);
    }
    expect([...statements(stage.template).keys()].sort()).toEqual([...roles, 'RolloutRole'].sort());
  });

  test('allow no action with a star, and a star as resource only if AWS offers nothing narrower', () => {
    const all = [...statements(stage.template).values()].flat();

    expect(all.flatMap(({ Action }) => Action).filter((action) => action.includes('*'))).toEqual([]);
    const open = all
      .filter(({ Resource }) => [Resource].flat().includes('*'))
      .flatMap(({ Action }) => Action);
    expect(new Set(open)).toEqual(
      new Set(['xray:PutTraceSegments', 'xray:PutTelemetryRecords', 'cloudwatch:DescribeAlarms']),
    );
  });

  test('never touch the table but by partition keys that the function has business with', () => {
    // An index and a stream have names of their own.
    const isOfTable = (action: string) =>
      /^dynamodb:(?!.*(?:Stream|Records|Shard))/.test(action) && action !== 'dynamodb:Query';
    const ofTable = [...statements(stage.template).values()]
      .flat()
      .filter(({ Action }) => [Action].flat().some(isOfTable));
    const allowed = ofTable.filter(({ Effect }) => Effect === 'Allow');

    expect(allowed.length).toBeGreaterThanOrEqual(functionsWithTable);
    for (const { Resource } of ofTable) expect(asText(Resource)).toBe(tableArn);
    for (const { Condition } of allowed)
      expect(Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys']).toEqual(expect.any(Array));
  });

  test('let a presigned URL put under staging and images only, and only the finalizer publish', () => {
    expect(granting('s3:PutObject')).toEqual([
      `DeliverNotificationsRole ${objects('status/*')}`,
      `ExtendVideoRole ${objects('images/*')}`,
      `FinalizeUploadRole ${objects('archives/*')}`,
      `MultiframeVideoRole ${objects('images/*')}`,
      `PublishNodeVersionRole ${objects('staging/*')}`,
      `RelightImageRole ${objects('images/*')}`,
      `TextToVideoRole ${objects('images/*')}`,
      `WriteIndexRole ${objects('index/*')}`,
    ]);
  });

  test('let a proxy read the one secret of its own provider, and each half of notifications those of its signatures', () => {
    expect(granting('secretsmanager:GetSecretValue')).toEqual([
      `DeliverNotificationsRole \${NotificationSigningKey}`,
      'ReceiveNotificationRole arn:aws:secretsmanager:us-east-1:210987654321:secret:video-notification-key-AbCdEf',
      `RelightImageRole ${own('secretsmanager')}:secret:image-key-??????`,
    ]);
    expect(granting('ssm:GetParameter')).toEqual([
      `ExtendVideoRole ${own('ssm')}:parameter/node-registry/prod/video-provider-key`,
      `MultiframeVideoRole ${own('ssm')}:parameter/node-registry/prod/video-provider-key`,
      `ReceiveNotificationRole ${own('ssm')}:parameter/node-registry/prod/image-notification-key`,
      `TextToVideoRole ${own('ssm')}:parameter/node-registry/prod/video-provider-key`,
    ]);
    expect(granting('kms:Decrypt').map((grant) => grant.split(' ')[0])).toEqual([
      'DeliverNotificationsRole',
      'ExtendVideoRole',
      'MultiframeVideoRole',
      'ReceiveNotificationRole',
      'RelightImageRole',
      'TextToVideoRole',
    ]);
  });

  test('let only what calls receivers write the public keys', () => {
    const writing = [...statements(stage.template)].filter(([, list]) =>
      list.some(({ Effect, Action, Condition }) => {
        const keys: string[] = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? [];
        const mayWrite = [Action].flat().some((action) => /:(?:Put|Update|Delete)Item$/.test(action));
        return Effect === 'Allow' && mayWrite && keys.some((key) => matches(key, signingKeysKey.pk));
      }),
    );

    expect(writing.map(([role]) => role)).toEqual(['DeliverNotificationsRole']);
  });

  test('let the proxies write tickets only where the stage relays notifications', () => {
    const withTickets = ({ template }: Packaged) =>
      [...statements(template)].filter(([, list]) => JSON.stringify(list).includes('TICKET#'));
    const proxies = ['ExtendVideoRole', 'MultiframeVideoRole', 'RelightImageRole', 'TextToVideoRole'];
    const proxiesOf = (packaged: Packaged) =>
      withTickets(packaged).flatMap(([role]) => (proxies.includes(role) ? [role] : []));

    expect(proxiesOf(stage).sort()).toEqual(proxies);
    expect(proxiesOf(direct)).toEqual([]);
  });

  test('let no function delete anything but idempotency records, what waits for an upload, and refused uploads', () => {
    const deleting = [...statements(stage.template)].flatMap(([, list]) =>
      list.filter(({ Action }) => [Action].flat().some((action) => /^dynamodb:Delete/.test(action))),
    );

    const keys = deleting.flatMap(
      ({ Condition }) => Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys'],
    );
    expect(keys.sort()).toEqual([...Array(5).fill('IDEMPOTENCY#*'), 'PENDING#*', 'PENDING#*']);
    expect(granting('s3:DeleteObject')).toEqual([]);
    expect(granting('s3:DeleteObjectVersion')).toEqual([`FinalizeUploadRole ${objects('staging/*')}`]);
  });
});
