import { parameterOf, type Variables } from '../../lib/config.ts';
import type { Partition, Right, TableAction } from '../../lib/deployment.ts';
import { partitions } from '../../lib/store/keys.ts';
import { secret } from '../../lib/variable-kinds.ts';
import { laneNames } from '../../lib/work/lanes.ts';
import type { Operation } from '../operations.ts';
import type { Values } from '../parameters/parameters.ts';
import { upperFirst } from './alarm-resources.ts';

/*
 * The statements of each function's role, beyond its logs and traces: the minimum that its code needs. An
 * operation's rights are in its own file under lib/contracts; those of the other functions are here.
 *
 * The leading keys are the partition keys of lib/store/keys.ts. Transactions need the rights of their parts.
 * AWS doesn't document whether it compares each part of a transaction with its own key or with the keys of
 * all parts, so each part is granted for all of them: both readings work. A Deny limits the possible writes
 * to a publisher. The tests' embedded table, bucket and queues reject calls without a grant
 * (tests/support/rights.ts), and a full run prints unused grants.
 * Resources that depend on a function, such as the bucket and the table, are named by text to avoid a cycle.
 */

/** A statement of a policy, in IAM's format. */
export interface Statement {
  Effect: 'Allow' | 'Deny';
  Action: string | readonly string[];
  Resource: unknown;
  Condition?: object;
}

interface Place {
  tableName: string;
  values: Values;
}

const arn = (service: string, resource: string) => ({
  'Fn::Sub': `arn:\${AWS::Partition}:${service}:${resource}`,
});
const inAccount = `\${AWS::Region}:\${AWS::AccountId}`;

function statementsOf(rights: readonly (Right | Statement)[], { tableName, values }: Place): Statement[] {
  const table = arn('dynamodb', `${inAccount}:table/${tableName}`);
  const isRelaying = values.notifications === 'relay';
  return rights.flatMap((right): Statement[] => {
    if ('Effect' in right) return [right];
    if ('bucket' in right)
      return [allow('s3', right.bucket, arn('s3', `::${values.bucketName}/${right.folder}/*`))];
    if ('index' in right)
      return [
        allow(
          'dynamodb',
          ['Query'],
          arn('dynamodb', `${inAccount}:table/${tableName}/index/${right.index}`),
          isIn(right.keys),
        ),
      ];
    const Action = right.table.map((action) => `dynamodb:${action}`);
    if ('neverChanges' in right) {
      const Condition = {
        ...(right.only && isIn(right.only)),
        'ForAnyValue:StringEquals': { 'dynamodb:Attributes': right.neverChanges },
      };
      return [{ Effect: 'Deny', Action, Resource: table, Condition }];
    }
    if (right.ifRelaying && !isRelaying) return [];
    return [{ Effect: 'Allow', Action, Resource: table, Condition: isIn(right.keys) }];
  });
}

function isIn(names: readonly Partition[]) {
  return keysAre(names.map((name) => partitions[name]));
}

function keysAre(keys: readonly string[]) {
  return { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys } };
}

function allow(
  service: string,
  actions: readonly string[],
  Resource: unknown,
  Condition?: object,
): Statement {
  const Action = actions.map((action) => `${service}:${action}`);
  return { Effect: 'Allow', Action, Resource, ...(Condition && { Condition }) };
}

function rightsOfOthers({ tableName, values }: Place): Record<string, (Right | Statement)[]> {
  const table = `${inAccount}:table/${tableName}`;
  const listBucket = allow('s3', ['ListBucket'], arn('s3', `::${values.bucketName}`));
  // Of the one distribution that serves archives.
  const dropsCopies = values.downloadBaseUrl
    ? []
    : [
        allow(
          'cloudfront',
          ['CreateInvalidation', 'GetInvalidation'],
          arn('cloudfront', `:\${AWS::AccountId}:distribution/\${Downloads}`),
        ),
      ];
  const queue = (name: string) => ({ 'Fn::GetAtt': [name, 'Arn'] });
  // Lambda reads a queue with the role of the function that it calls.
  const served = (name: string) =>
    allow('sqs', ['SendMessage', 'ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'], queue(name));
  const due = (keys?: string[]) =>
    allow('dynamodb', ['Query'], arn('dynamodb', `${table}/index/pending`), keys && keysAre(keys));
  const write: TableAction[] = ['PutItem', 'UpdateItem'];
  // The transaction writes the task, its notification, and the task's result into the record of its attempt.
  const reports: (Right | Statement)[] = [
    // The attempt has the answered ID.
    { table: ['BatchGetItem'], keys: ['tasks', 'usage'] },
    { table: write, keys: ['tasks', 'usage'] },
    // An attempt is only changed. Whichever keys the transaction's Put is compared with, one is a
    // secret's.
    { ...allow('dynamodb', ['PutItem'], arn('dynamodb', table), isIn(['usage'])), Effect: 'Deny' },
    // Nor does a provider, or who knows its URL, change what an attempt cost and whose it is.
    { table: write, neverChanges: ['caller', 'ceiling', 'credits', 'is_exact', 'n', 'payment'] },
    // Nor anything else of it but its end: tasks and notifications, whose keys differ, have some of these names too.
    {
      table: write,
      neverChanges: [
        ...['at', 'code', 'completed_at', 'concluded_at', 'frames', 'key_hash', 'model', 'ms', 'operation'],
        ...['request_id', 'seconds', 'task_hash', 'ttl'],
      ],
      only: ['usage'],
    },
    allow('sqs', ['SendMessage'], queue('DeliverQueue')),
  ];
  return {
    receiveNotification: reports,

    // It has the providers' keys, but no right to receivers' responses or public statuses.
    pollProviders: [...reports, served('PollQueue')],

    deliverNotifications: [
      { table: ['BatchGetItem', 'UpdateItem'], keys: ['tasks'] },
      // Whether the request that bought the task has ended, and the ID that it answered.
      { table: ['BatchGetItem'], keys: ['usage'] },
      // The public keys of its signing keys.
      { table: ['UpdateItem'], keys: ['signingKeys'] },
      // A task has the partition key of its notifications, so this names the fields that must not change: the
      // URL and content of notifications, and the state of their task.
      {
        table: ['UpdateItem'],
        neverChanges: [
          ...['address', 'attempt', 'body', 'caller', 'id', 'provider'],
          ...['provider_state', 'request_id', 'sequence', 'state', 'status_key', 'task_id'],
        ],
      },
      served('DeliverQueue'),
      // The public status of a task, unless a later one is there.
      { bucket: ['GetObject', 'PutObject'], folder: 'status' },
      allow('secretsmanager', ['GetSecretValue'], { Ref: 'NotificationSigningKey' }),
      ...decrypts(values),
    ],

    selfService: [
      {
        table: ['BatchGetItem'],
        keys: ['publishers', 'people', 'newPublishers', 'blocks', 'nodes', 'callers', 'tasks', 'pending'],
      },
      { table: ['Query'], keys: ['publishers', 'people', 'nodes', 'owned', 'usage'] },
      { index: 'versions', keys: ['nodes'] },
      { table: ['PutItem', 'UpdateItem', 'DeleteItem'], keys: ['publishers', 'people', 'newPublishers'] },
      // A new token counts as long as its publisher is the one that was read.
      { table: ['ConditionCheckItem'], keys: ['publishers'] },
      // A withdrawn version, and a dropped one.
      { table: ['UpdateItem', 'DeleteItem'], keys: ['nodes', 'pending'] },
      // Bans and moves are the administration's, and archives the finalizer's.
      {
        table: ['PutItem', 'UpdateItem'],
        neverChanges: [
          ...['banned', 'ban_reason', 'moved_to', 'moved_at', 'moved_by', 'bans', 'before_ban'],
          ...['archive_key', 'sha256', 'published_at', 'publisher_id'],
        ],
      },
    ],
    taskResults: [{ table: ['BatchGetItem'], keys: ['results', 'tasks'] }],

    unknownRoute: [],

    // Of what waits it reads the index only, and it changes nothing but the time.
    handOverWork: [
      due(laneNames.map((lane) => `${lane}-*`)),
      {
        ...allow('dynamodb', ['UpdateItem'], arn('dynamodb', table)),
        Condition: {
          ...isIn(['callers', 'nodes', 'publishers', 'tasks']),
          'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', 'pending_since'] },
          StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_NEW', 'UPDATED_OLD'] },
        },
      },
      // The change that the stream passes on each minute.
      { table: ['PutItem'], keys: ['heartbeat'] },
      ...laneNames.map((lane) => allow('sqs', ['SendMessage'], queue(`${upperFirst(lane)}Queue`))),
    ],

    finalizeUpload: [
      // A version is activated only while its publisher and the token that it was published with are in good standing.
      { table: ['BatchGetItem'], keys: ['nodes', 'publishers', 'pending'] },
      // It drops a version that no archive has come for.
      { table: ['UpdateItem', 'DeleteItem'], keys: ['nodes', 'pending'] },
      // The finalizer reads, copies and deletes one version of an upload, not a replacement.
      { bucket: ['GetObject', 'GetObjectVersion', 'DeleteObjectVersion'], folder: 'staging' },
      { bucket: ['PutObject'], folder: 'archives' },
      // A ban during the copy has not seen the archive.
      { index: 'versions', keys: ['nodes'] },
      { bucket: ['PutObjectTagging', 'DeleteObjectTagging'], folder: 'archives' },
      // Without it, S3 answers 403 instead of 404 for a missing object.
      listBucket,
      served('FinalizeQueue'),
      allow('sqs', ['SendMessage'], queue('ExtractQueue')),
    ],

    // People's, by `npm run admin`. Only a stage that names administrators has this role.
    administration: [
      allow(
        'dynamodb',
        [
          'Scan',
          'Query',
          'GetItem',
          'BatchGetItem',
          'PutItem',
          'UpdateItem',
          'DeleteItem',
          'ConditionCheckItem',
        ],
        arn('dynamodb', table),
      ),
      due(),
      allow('dynamodb', ['Query'], arn('dynamodb', `${table}/index/versions`)),
      listBucket,
      {
        bucket: ['GetObject', 'GetObjectVersion', 'PutObjectTagging', 'DeleteObjectTagging'],
        folder: 'archives',
      },
      { bucket: ['GetObject', 'PutObject', 'DeleteObject'], folder: 'index' },
      { bucket: ['GetObject', 'PutObject', 'DeleteObject'], folder: 'pages' },
      allow('cloudformation', ['DescribeStacks'], arn('cloudformation', `${inAccount}:stack/${tableName}/*`)),
      ...dropsCopies,
    ],

    // It ends what requests that crashed have left in accounts and attempts.
    visitAccounts: [
      served('VisitQueue'),
      { table: ['BatchGetItem', 'UpdateItem'], keys: ['callers'] },
      { table: ['BatchGetItem', 'PutItem', 'UpdateItem'], keys: ['usage'] },
      // The callers of a day, and the sum of their accounts.
      { table: ['Query'], keys: ['usage'] },
      { table: ['PutItem'], keys: ['stageDay'] },
    ],

    // It may mark archives, and neither read nor change one; and of publishers it writes no member, token, trust or ban.
    alignRegistry: [
      served('AlignQueue'),
      { table: ['BatchGetItem'], keys: ['nodes', 'publishers'] },
      { table: ['Query'], keys: ['nodes', 'publishers', 'owned'] },
      { index: 'versions', keys: ['nodes'] },
      { table: ['UpdateItem', 'ConditionCheckItem'], keys: ['nodes', 'publishers', 'owned'] },
      { table: ['DeleteItem'], keys: ['owned'] },
      { table: ['UpdateItem'], keys: ['pending'] },
      {
        table: ['UpdateItem'],
        neverChanges: [
          ...['members', 'banned', 'ban_reason', 'moved_to', 'moved_at', 'label', 'expires_at', 'revoked_at'],
          ...['made_by', 'issuer', 'repository', 'workflow', 'archive_key', 'sha256', 'published_at'],
          ...['token_hash', 'trust_id'],
        ],
      },
      { bucket: ['PutObjectTagging', 'DeleteObjectTagging'], folder: 'archives' },
      listBucket,
      ...dropsCopies,
    ],

    // It reads strangers' code, so it may write only what it read from it: no archive, and only a node's
    // keys.
    extractHostNodes: [
      { table: ['BatchGetItem', 'UpdateItem'], keys: ['nodes'] },
      served('ExtractQueue'),
      { bucket: ['GetObject', 'GetObjectVersion'], folder: 'archives' },
      listBucket,
    ],

    // It reads as anyone, and writes only the objects that it reads.
    watchReads: [
      allow(
        's3',
        ['GetObject', 'PutObject'],
        ['archives', 'index', 'status', 'pages'].map((kind) =>
          arn('s3', `::${values.bucketName}/${kind}/-watched`),
        ),
      ),
    ],

    // It reads the catalog, and no table.
    writeCatalog: [
      { bucket: ['GetObject', 'PutObject'], folder: 'index' },
      { bucket: ['GetObject', 'PutObject'], folder: 'pages' },
      listBucket,
    ],

    // Adds each log file up in an object of its own, and deletes the file, because it has people's addresses.
    countDownloads: [
      { table: ['BatchGetItem', 'PutItem'], keys: ['nodes'] },
      allow('s3', ['GetObject', 'DeleteObject'], arn('s3', `::${values.bucketName}-logs/downloads/*`)),
      allow('s3', ['ListBucket'], arn('s3', `::${values.bucketName}-logs`)),
      { bucket: ['GetObject', 'PutObject'], folder: 'counts' },
      listBucket,
      allow('sqs', ['SendMessage'], queue('IndexChanges')),
    ],

    // It reads public data and writes the files and pages of the index, but no archives or records.
    writeIndex: [
      // The README of a version.
      { bucket: ['GetObject', 'GetObjectVersion'], folder: 'archives' },
      { table: ['BatchGetItem', 'Query'], keys: ['nodes', 'publishers'] },
      { table: ['Query'], keys: ['owned'] },
      { index: 'versions', keys: ['nodes'] },
      // Lambda reads the stream with this role.
      allow(
        'dynamodb',
        ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'],
        arn('dynamodb', `${table}/stream/*`),
      ),
      // A conditional write also needs the right to read.
      { bucket: ['GetObject', 'PutObject'], folder: 'index' },
      { bucket: ['GetObject', 'PutObject'], folder: 'pages' },
      listBucket,
      allow('sqs', ['SendMessage'], queue('WriteIndexFailures')),
      served('IndexChanges'),
    ],
  };
}

/** A function may read the secrets that its variables name. */
function secretRights(variables: Variables, values: Values): Statement[] {
  const names = Object.entries(variables).flatMap(([variable, each]) => {
    const { def } = each.schema._zod;
    const parameter = parameterOf(variable, each);
    const kind = 'innerType' in def ? def.innerType : each.schema;
    const reference = kind === secret && parameter !== undefined && values[parameter];
    return reference ? [reference] : [];
  });
  return names.length === 0 ? [] : [...names.map(secretStatement), ...decrypts(values)];
}

/** The right to read a secret named `ssm:<name>`, `secretsmanager:<name>` or `secretsmanager:<ARN>`. */
function secretStatement(reference: string): Statement {
  const [store, ...rest] = reference.split(':');
  const name = rest.join(':');
  if (store === 'ssm') return allow('ssm', ['GetParameter'], arn('ssm', `${inAccount}:parameter${name}`));
  // An ARN may be another account's. The store appends a hyphen and six characters to a name.
  const isWhole = name.startsWith('arn:');
  const resource = isWhole ? name : arn('secretsmanager', `${inAccount}:secret:${name}-??????`);
  return allow('secretsmanager', ['GetSecretValue'], resource);
}

function decrypts({ secretsKeyArn }: Values): Statement[] {
  const via = ['ssm', 'secretsmanager'].map((service) => ({
    'Fn::Sub': `${service}.\${AWS::Region}.\${AWS::URLSuffix}`,
  }));
  const Condition = { StringEquals: { 'kms:ViaService': via } };
  return secretsKeyArn ? [allow('kms', ['Decrypt'], secretsKeyArn, Condition)] : [];
}

export function statementsOfAll(
  operations: readonly Operation[],
  variables: Record<string, Variables>,
  place: Place,
): Record<string, Statement[]> {
  const rights: Record<string, readonly (Right | Statement)[]> = {
    ...rightsOfOthers(place),
    ...Object.fromEntries(operations.map((operation) => [operation.contract.name, operation.rights])),
  };
  return Object.fromEntries(
    Object.entries(rights).map(([name, each]) => [
      name,
      [...statementsOf(each, place), ...secretRights(variables[name] ?? {}, place.values)],
    ]),
  );
}
