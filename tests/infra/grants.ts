import { loadOperations } from '../../infra/operations.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { upperFirst } from '../../infra/template/alarms.ts';
import { variablesOf } from '../../infra/template/environment.ts';
import { statementsOfAll } from '../../infra/template/roles.ts';
import { asText } from './intrinsics.ts';

/** What a call needs a right for. */
export interface Need {
  action: string;
  /** A partition key, an index or an object. */
  target: string;
  /** The attributes that a write names, in whatever part of it. */
  attributes?: string[];
  /** The partition keys that a part of a transaction is compared with: its own, or those of all parts. */
  keys?: string[][];
}

type Attributes = Record<string, { S?: string }>;

interface Write {
  Key?: Attributes;
  Item?: Attributes;
  ExpressionAttributeNames?: Record<string, string>;
}

/** What rights depend on, of the input of a command. */
interface Input extends Write {
  RequestItems?: Record<string, { Keys: Attributes[] }>;
  TransactItems?: Record<string, Write>[];
  IndexName?: string;
  ExpressionAttributeValues?: Attributes;
}

/** The statements of each role, in words. */
export type Statements = Record<string, string[]>;

const tableArn = `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/node-registry-prod`;

function inWords({ Effect, Action, Resource, Condition }: Part): string {
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

const operations = await loadOperations();
const byName = statementsOfAll(operations, variablesOf(operations), {
  tableName: 'node-registry-prod',
  values: parameterSets.full,
});
export const statements: Statements = Object.fromEntries(
  Object.entries(byName).map(([name, list]) => [`${upperFirst(name)}Role`, list.map(inWords)]),
);

/** What a role may do to the table and the bucket, one action and one pattern at a time. Streams are read by Lambda. */
export function grantsOf(list: Statements, role: string): Need[] {
  return (list[role] ?? []).flatMap((statement) => {
    const [, actions = '', where = '', keys] =
      /^Allow (.+?) on (.+?)(?: with keys (.+))?$/.exec(statement) ?? [];
    const places = where.split(', ').map((arn) => arn.replace(/^.*(:::[\w-]+\/|\/index\/)/, ''));
    const [place = ''] = places;
    const patterns =
      keys?.split(', ').map((key) => (where.includes('/index/') ? `${place} ${key}` : key)) ?? places;
    return actions
      .split(', ')
      .filter((action) => /^(dynamodb:(?!.*(?:Stream|Records|Shard))|s3:(Get|Put|Delete)Object)/.test(action))
      .flatMap((action) => patterns.map((target) => ({ action, target })));
  });
}

/** What a role is denied although it is granted: writes that name one of these attributes. */
function deniedAttributes(list: Statements, role: string): string[] {
  const [, names = ''] = (list[role] ?? []).flatMap(
    (statement) => /^Deny .+ when dynamodb:Attributes ForAnyValue:StringEquals (.+)$/.exec(statement) ?? [],
  );
  return names.split(' or ').filter(Boolean);
}

/** Writes that a role is denied although they are granted, by one of the two readings of a transaction's keys. */
function isDeniedByKeys(
  list: Statements,
  role: string,
  { action, target, keys = [[target]] }: Need,
): boolean {
  const denied = (list[role] ?? []).flatMap((statement) => {
    const [, actions = '', patterns = ''] = /^Deny (.+?) on .+? with keys (.+)$/.exec(statement) ?? [];
    return actions.split(', ').includes(action) ? [patterns.split(', ')] : [];
  });
  return denied.some((patterns) =>
    keys.some((all) =>
      all.every((key) => patterns.some((pattern) => key.startsWith(pattern.replace('*', '')))),
    ),
  );
}

export function covers(grant: Need, need: Need): boolean {
  return grant.action === need.action && need.target.startsWith(grant.target.replace('*', ''));
}

const partition = ({ Key, Item }: Write) => String((Key ?? Item)?.pk?.S);

/** S3 has rights of their own for versions that a call names. */
export const suffix = (versionId?: string) => (versionId === undefined ? '' : 'Version');

const transacted: Record<string, string> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

function attributesOf({ Item = {}, ExpressionAttributeNames = {} }: Write): string[] {
  return [...Object.keys(Item), ...Object.values(ExpressionAttributeNames)];
}

function write(action: string, input: Write): Need {
  return { action: `dynamodb:${action}`, target: partition(input), attributes: attributesOf(input) };
}

/** The needs of a command of the SDK. */
export const dynamodbNeeds: Record<string, (input: Input) => Need[]> = {
  BatchGetItemCommand: ({ RequestItems = {} }) =>
    Object.values(RequestItems).flatMap(({ Keys }) =>
      Keys.map((Key) => ({ action: 'dynamodb:BatchGetItem', target: partition({ Key }) })),
    ),
  TransactWriteItemsCommand: ({ TransactItems = [] }) => {
    const parts = TransactItems.flatMap((item) => Object.entries(item));
    const targets = parts.map(([, part]) => partition(part));
    const attributes = parts.flatMap(([, part]) => attributesOf(part));
    return parts.flatMap(([kind, part]) => {
      const keys = [[partition(part)], targets];
      return targets.map((target) => ({
        action: `dynamodb:${transacted[kind]}`,
        target,
        attributes,
        keys,
      }));
    });
  },
  PutItemCommand: (put) => [write('PutItem', put)],
  UpdateItemCommand: (update) => [write('UpdateItem', update)],
  DeleteItemCommand: (remove) => [write('DeleteItem', remove)],
  QueryCommand: ({ IndexName, ExpressionAttributeValues }) => {
    const place = IndexName === undefined ? '' : `${IndexName} `;
    return [{ action: 'dynamodb:Query', target: place + ExpressionAttributeValues?.[':partition']?.S }];
  },
};

/** Which needs a role has no right for, or is denied. */
export function missingRights(list: Statements, role: string, needs: readonly Need[]): Need[] {
  const grants = grantsOf(list, role);
  const denied = deniedAttributes(list, role);
  return needs.filter(
    (need) =>
      !grants.some((grant) => covers(grant, need)) ||
      need.attributes?.some((name) => denied.includes(name)) ||
      isDeniedByKeys(list, role, need),
  );
}
