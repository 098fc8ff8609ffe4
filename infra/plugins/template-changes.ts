import type { Resource } from './framework.ts';
import type { Part } from './references.ts';

/**
 * The stores of a stage's data, keys and addresses, and the properties whose change replaces them. "Update
 * requires" of the properties:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html and
 * its siblings. A secret keeps its ARN and gets another value if GenerateSecretString changes.
 */
const replacing: Record<string, readonly string[]> = {
  'AWS::DynamoDB::Table': ['TableName', 'KeySchema', 'StreamSpecification', 'LocalSecondaryIndexes'],
  'AWS::S3::Bucket': ['BucketName'],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::SecretsManager::Secret': ['Name', 'GenerateSecretString'],
  'AWS::ApiGatewayV2::Api': ['ProtocolType'],
  'AWS::ApiGatewayV2::DomainName': ['DomainName'],
  'AWS::CloudFront::Distribution': [],
};

interface Compared {
  Resources: Record<string, Pick<Resource, 'Type' | 'Properties' | 'DeletionPolicy' | 'UpdateReplacePolicy'>>;
}

/** Why a stage of the first template can't be updated to the second one without a loss. */
export function lossesBetween(before: Compared, after: Compared): string[] {
  return Object.entries(before.Resources).flatMap(([id, old]) => {
    const kept = replacing[old.Type];
    if (kept === undefined) return [];
    const now = after.Resources[id];
    if (now === undefined) return [`${id} is removed or renamed`];
    if (now.Type !== old.Type) return [`${id} is replaced: it is ${now.Type}`];
    return [
      ...kept
        .filter((name) => !isSame(old.Properties?.[name], now.Properties?.[name]))
        .map((name) => `${id} is replaced: ${name} changed`),
      ...(['DeletionPolicy', 'UpdateReplacePolicy'] as const)
        .filter((name) => old[name] !== now[name])
        .map((name) => `${id} is not kept as before: ${name} changed`),
      ...(old.Type === 'AWS::DynamoDB::Table' ? indexLosses(id, old.Properties, now.Properties) : []),
    ];
  });
}

/** Both come from the same generator, which writes properties in one order. */
function isSame(a: Part, b: Part): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** CloudFormation changes one index per update: it rejects more only after other resources have changed. */
function indexLosses(id: string, old: Part, now: Part): string[] {
  const indexes = ({ GlobalSecondaryIndexes = [], AttributeDefinitions }: Part) => {
    const types = Object.fromEntries(
      AttributeDefinitions.map(({ AttributeName, AttributeType }: Part) => [AttributeName, AttributeType]),
    );
    return new Map<string, Part>(
      GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }: Part) => [
        IndexName,
        {
          Projection,
          keys: KeySchema.map((key: Part) => ({ ...key, type: types[key.AttributeName] })),
        },
      ]),
    );
  };
  const [before, after] = [indexes(old), indexes(now)];
  const changed = [...before]
    .filter(([name, index]) => after.has(name) && !isSame(index, after.get(name)))
    .map(([name]) => `${id}: the index ${name} is replaced`);
  const steps = [...before.keys(), ...after.keys()].filter((name) => before.has(name) !== after.has(name));
  return steps.length > 1 ? [...changed, `${id}: ${steps.length} indexes change at once`] : changed;
}
