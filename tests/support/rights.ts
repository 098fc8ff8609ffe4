import { appendFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { parseObject } from '../../lib/json.ts';
import { lanes } from '../../lib/work/lanes.ts';
import { plain } from '../infra/intrinsics.ts';
import { deniedFile } from './roles.ts';

/*
 * The rights of each function's role, for the embedded table, bucket and queues to ask before they do what a function
 * calls for. roles.ts says which function calls; a call without one is the operator's, or a caller's with a signed URL.
 */

export interface Statement {
  Effect: 'Allow' | 'Deny';
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, string | string[]>>;
}

/** What AWS compares with statements. */
interface Call {
  action: string;
  resource: string;
  keys?: string[];
  attributes?: string[];
  returns?: string | undefined;
}

const tableArn = 'arn:aws:dynamodb:us-east-1:123456789012:table/registry';
const bucketArn = 'arn:aws:s3:::archives';

/** The names of a packaged stage. */
const places: readonly [RegExp, string][] = [
  [/\$\{AWS::Partition\}/g, 'aws'],
  [/\$\{AWS::Region\}/g, 'us-east-1'],
  [/\$\{AWS::AccountId\}/g, '123456789012'],
  [/(?<=:table\/)node-registry-prod/g, 'registry'],
  [/(?<=:s3:::)archives-of-the-tests/g, 'archives'],
  [/\$\{(\w+\.Arn)\}/g, '$1'],
];

/** By the names of roles. */
type Statements = ReadonlyMap<string, readonly Statement[]>;

/** What the embedded servers stand for; logs, traces and keys are not among them. */
export function isServed(source: object): source is Statement {
  return 'Action' in source && /^(?:dynamodb|s3|sqs|secretsmanager|ssm):/.test(String(source.Action));
}

/** With resources as the embedded servers name them. */
export function ownText(statements: unknown): string {
  const text = JSON.stringify(plain(statements));
  return places.reduce((whole, [source, name]) => whole.replace(source, name), text);
}

let own: Statements | undefined;

/** The rights of each role, which start-servers.ts has read. */
export function ownStatements(): Statements {
  own ??= new Map(
    Object.entries<Statement[]>(JSON.parse(String(process.env.TEST_STATEMENTS))).map(([name, list]) => [
      roleOf(name),
      list.filter(isServed),
    ]),
  );
  return own;
}

function roleOf(name: string): string {
  return `${name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Role`;
}

const patterns = new Map<string, RegExp>();

function isLike(pattern: string, text: string): boolean {
  const known = patterns.get(pattern);
  if (known) return known.test(text);
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  patterns.set(pattern, new RegExp(`^${source}$`, 's'));
  return isLike(pattern, text);
}

function isAbout({ Action, Resource, Condition = {} }: Statement, call: Call): boolean {
  return (
    [Action].flat().includes(call.action) &&
    [Resource].flat().some((pattern) => isLike(pattern, call.resource)) &&
    Object.entries(Condition).every(([operator, tests]) =>
      Object.entries(tests).every(([key, values]) => holds(`${operator} ${key}`, [values].flat(), call)),
    )
  );
}

function holds(
  test: string,
  values: string[],
  { keys = [], attributes = [], returns = 'NONE' }: Call,
): boolean {
  switch (test) {
    case 'ForAllValues:StringLike dynamodb:LeadingKeys':
      return keys.every((key) => values.some((pattern) => isLike(pattern, key)));
    case 'ForAllValues:StringEquals dynamodb:Attributes':
      return attributes.every((name) => values.includes(name));
    case 'StringEqualsIfExists dynamodb:ReturnValues':
      return values.includes(returns);
    case 'ForAnyValue:StringEquals dynamodb:Attributes':
      return attributes.some((name) => values.includes(name));
    default:
      throw new Error(`The tests do not know the condition ${test}.`);
  }
}

const used = new Set<string>();

/** Why a function may not do this, as AWS words it. */
function denialOf(name: string, call: Call, place: string): string | undefined {
  const role = roleOf(name);
  const about = (ownStatements().get(role) ?? []).filter((statement) => isAbout(statement, call));
  const reason = about.some(({ Effect }) => Effect === 'Deny')
    ? 'with an explicit deny in an identity-based policy'
    : about.length === 0 && `because no identity-based policy allows the ${call.action} action`;
  if (!reason) {
    for (const grant of about.flatMap(grantsOf)) if (isUse(grant, call)) used.add(inWords(role, grant));
    return undefined;
  }
  const user = `arn:aws:sts::123456789012:assumed-role/${role}/${name}`;
  const message = `User: ${user} is not authorized to perform: ${call.action} on resource: ${call.resource} ${reason}`;
  if (isMadeFor(name, call)) return message;
  appendFileSync(deniedFile(place), `${message} (${call.keys ?? ''} ${call.attributes ?? ''})\n`);
  return message;
}

/** These may not learn whether an object is there that they cannot read, and take the 403 for its absence. */
function isMadeFor(name: string, { action }: Call): boolean {
  return (
    action === 's3:ListBucket' && /^(?:deliver-notifications|relight-image|[a-z-]+-video)(?:~|$)/.test(name)
  );
}

/** One action, one place and one pattern of keys. */
type Grant = readonly [action: string, resource: string, pattern?: string];

function grantsOf({ Action, Resource, Condition }: Statement): Grant[] {
  const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
  return [Action]
    .flat()
    .flatMap((action) =>
      [Resource]
        .flat()
        .flatMap((resource): Grant[] =>
          keys ? [keys].flat().map((pattern) => [action, resource, pattern]) : [[action, resource]],
        ),
    );
}

function isUse([action, resource, pattern]: Grant, call: Call): boolean {
  if (action !== call.action || !isLike(resource, call.resource)) return false;
  return pattern === undefined || (call.keys ?? []).some((key) => isLike(pattern, key));
}

const inWords = (role: string, grant: Grant) => [role, ...grant].join(' ');

/** What roles are granted and none of the calls since the start needed. Lambda itself reads the queues and the stream. */
export function unusedGrants(): string[] {
  return [...ownStatements()].flatMap(([role, list]) =>
    list
      .filter(({ Effect }) => Effect === 'Allow')
      .flatMap(grantsOf)
      .filter(([action]) => /^(?:dynamodb:(?!.*(?:Stream|Records|Shard))|s3:)/.test(action))
      .map((grant) => inWords(role, grant))
      .filter((words) => !used.has(words)),
  );
}

function firstDenial(name: string, place: string, calls: readonly Call[]): string | undefined {
  for (const call of calls) {
    const denial = denialOf(name, call, place);
    if (denial !== undefined) return denial;
  }
  return undefined;
}

type Attributes = Record<string, { S?: string } | undefined>;

interface Part {
  TableName?: string;
  Item?: Attributes;
  Key?: Attributes;
  ExpressionAttributeNames?: Record<string, string>;
}

interface Input extends Part {
  TransactItems?: Record<string, Part>[];
  RequestItems?: Record<string, { Keys: Attributes[] }>;
  KeyConditionExpression?: string;
  ExpressionAttributeValues?: Attributes;
  IndexName?: string;
  ReturnValues?: string;
}

export function tableDenial({ headers }: IncomingMessage, body: Buffer): string | undefined {
  const name = headers['running-function'];
  if (name === undefined) return undefined;
  const operation = String(headers['x-amz-target']).split('.')[1] ?? '';
  const input: Input = JSON.parse(body.toString());
  return firstDenial(String(name), tableOf(input), tableCalls(operation, input));
}

function tableOf({ TransactItems: [first = {}] = [], RequestItems = {}, TableName }: Input): string {
  const [part] = Object.values(first);
  return TableName ?? part?.TableName ?? Object.keys(RequestItems)[0] ?? '';
}

const transacted: Record<string, string> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

function tableCalls(operation: string, input: Input): Call[] {
  const { TransactItems = [], IndexName, ReturnValues: returns } = input;
  const call = (action: string, keys: string[], attributes: string[]): Call => ({
    action: `dynamodb:${action}`,
    resource: IndexName === undefined ? tableArn : `${tableArn}/index/${IndexName}`,
    keys,
    attributes,
    returns,
  });
  if (operation !== 'TransactWriteItems') {
    const isWrite = /^(?:Put|Update|Delete)Item$/.test(operation);
    return [call(operation, keysOf(input), isWrite ? attributesOf(input) : [])];
  }
  // AWS does not document whether a part is compared with what it names or with what all parts do: both must do.
  const parts = TransactItems.flatMap((item) => Object.entries(item));
  const keys = parts.flatMap(([, part]) => keysOf(part));
  const attributes = parts.flatMap(([, part]) => attributesOf(part));
  return parts.flatMap(([kind, part]) => [
    call(String(transacted[kind]), keysOf(part), attributesOf(part)),
    call(String(transacted[kind]), keys, attributes),
  ]);
}

/** The partitions, of the table or an index; one without a name if it is all of them. */
function keysOf(input: Input): string[] {
  const { RequestItems, KeyConditionExpression = '', ExpressionAttributeValues = {} } = input;
  if (RequestItems)
    return Object.values(RequestItems).flatMap(({ Keys }) => Keys.map(({ pk }) => pk?.S ?? ''));
  const [, value = ''] = / = (:\w+)/.exec(KeyConditionExpression) ?? [];
  const key = (input.Key ?? input.Item)?.pk ?? ExpressionAttributeValues[value];
  return [key?.S ?? ''];
}

function attributesOf({ Item = {}, ExpressionAttributeNames = {} }: Part): string[] {
  return [...Object.keys(Item), ...Object.values(ExpressionAttributeNames)];
}

/** Without `isListing`, what the request itself does. */
export function bucketDenial(
  { method = '', headers, url = '' }: IncomingMessage,
  isListing = false,
): string | undefined {
  const { pathname, searchParams } = new URL(url, 'http://s3');
  // A signed URL may do what its signer may.
  const signer = searchParams.get('X-Amz-Credential')?.split('/')[0]?.split('.')[1];
  const name = headers['running-function'] ?? signer;
  if (name === undefined) return undefined;
  const [bucket = '', key] = placeIn(pathname);
  const calls: Call[] = [];
  // The logs have a bucket of their own.
  const arn = bucket.endsWith('-logs') ? `${bucketArn}-logs` : bucketArn;
  if (isListing || key === '') calls.push({ action: 's3:ListBucket', resource: arn });
  else {
    const verb = { GET: 'Get', HEAD: 'Get', PUT: 'Put', DELETE: 'Delete' }[method];
    const isTagging = searchParams.has('tagging');
    const { action, resource } = objectCall(verb, key, searchParams.has('versionId'), arn);
    calls.push({ action: isTagging ? `${action}Tagging` : action, resource });
    // A write with a condition on the object reads it.
    if (headers['if-match'] !== undefined && verb === 'Put') calls.push(objectCall('Get', key));
    const [path, query] = String(headers['x-amz-copy-source'] ?? '').split('?');
    if (path) calls.push(objectCall('Get', placeIn(`/${path}`.replace('//', '/'))[1], query !== undefined));
  }
  return firstDenial(String(name), bucket, calls);
}

function placeIn(pathname: string): [bucket: string, key: string] {
  const [, bucket = '', ...rest] = pathname.split('/');
  return [bucket, decodeURIComponent(rest.join('/'))];
}

function objectCall(verb: string | undefined, key: string, isVersion = false, arn = bucketArn): Call {
  return { action: `s3:${verb}Object${isVersion ? 'Version' : ''}`, resource: `${arn}/${key}` };
}

export function queueDenial({ headers }: IncomingMessage, body: string): string | undefined {
  const name = headers['running-function'];
  if (name === undefined) return undefined;
  const queue = String(parseObject(body)?.QueueUrl).split('/').at(-1) ?? '';
  const action = String(headers['x-amz-target']).replace(/^AmazonSQS\.|Batch$/g, '');
  const suffix = queue in lanes ? 'Queue' : '';
  const resource = `${queue.charAt(0).toUpperCase()}${queue.slice(1)}${suffix}.Arn`;
  return firstDenial(String(name), String(process.env.TABLE_NAME), [{ action: `sqs:${action}`, resource }]);
}
