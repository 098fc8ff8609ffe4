import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { ApiError } from '../errors.ts';
import { type Item, toAttributes } from '../store/attribute-values.ts';
import { type Clause, condition, update } from '../store/expressions.ts';
import { type Key, nodeKey, nodeVersionKey } from '../store/keys.ts';
import { latestOf } from './latest-version.ts';
import { nodeVersionView } from './node-versions.ts';
import { dynamodb, readTogether, storeError, tableName, transact } from '../store/table.ts';

/*
 * What happens to a version once it is registered. *Listed* means that it is in the index `pending`, the list of
 * what is left to do:
 *
 *   pending, listed ──activate──> active, listed ──settle──> active
 *        │  ▲                          latest_version moves, then the version leaves the list
 *        └──┘ refuse: a status_reason
 *
 * Only the upload that the latest publish named leads out of `pending`, and each arrow is one conditional write,
 * so it may be taken twice, late or by two at once: the second finds its condition failed and changes nothing.
 * A finaliser that dies between two arrows leaves a listed version, which the next event or sweep takes further.
 */

/** The upload of a version, as its staging key names it. */
interface Upload {
  nodeId: string;
  version: string;
  versionId: string;
  uploadId: string;
}

interface PublishedArchive {
  downloadUrl: string;
  sizeBytes: number;
  sha256: string;
}

type UploadState = 'awaited' | 'superseded' | 'published' | 'unknown';

/** `superseded`: the version was published again meanwhile, and waits for another upload. */
export async function findUploadState(upload: Upload, deadline: number): Promise<UploadState> {
  const [version] = await readTogether(deadline, nodeVersionKey(upload.nodeId, upload.version));
  if (version?.id !== upload.versionId) return 'unknown';
  if (version.status !== 'NodeVersionStatusPending') return 'published';
  return version.upload_id === upload.uploadId ? 'awaited' : 'superseded';
}

/** False where the version no longer waits for this upload. */
export function activateVersion(upload: Upload, archive: PublishedArchive): Promise<boolean> {
  return writeAwaited(upload, {
    status: 'NodeVersionStatusActive',
    status_reason: null,
    downloadUrl: archive.downloadUrl,
    size_bytes: archive.sizeBytes,
    sha256: archive.sha256,
    upload_id: null,
  });
}

/** The version stays pending, and its publisher learns why. False as above. */
export function refuseUpload(upload: Upload, reason: string): Promise<boolean> {
  return writeAwaited(upload, { status_reason: reason });
}

/** How often the race for one node's latest version is run again; each round somebody wins it. */
const maxRounds = 100;

/** Takes a version that is no longer pending to its end: the node's latest_version moves, and the list shrinks. */
export async function settleVersion(nodeId: string, version: string, deadline: number): Promise<void> {
  const versionKey = nodeVersionKey(nodeId, version);
  for (let round = 0; round < maxRounds; round += 1) {
    const [item, node] = await readTogether(deadline, versionKey, nodeKey(nodeId));
    if (!item || item.pending_shard === undefined || item.status === 'NodeVersionStatusPending') return;
    if (await moveLatest(item, node, deadline)) {
      await write(versionKey, { pending_shard: null, pending_since: null }, [
        ['id', '=', item.id],
        ['status', '=', item.status],
      ]);
      return;
    }
  }
  throw new ApiError('conflict');
}

/** False where the latest version moved while this was decided, or this version was banned or flagged. */
async function moveLatest(version: Item, node: Item | undefined, deadline: number): Promise<boolean> {
  const latest = node?.latest_version as Item | undefined;
  if (!node || latestOf(latest ? [latest, version] : [version]) !== version) return true;
  const seen: Clause = latest ? [['latest_version', 'id'], '=', latest.id] : ['latest_version', 'absent'];
  const failed = await transact(
    [
      {
        ConditionCheck: {
          TableName: tableName,
          Key: toAttributes(keyOf(version)),
          ...condition(['status', '=', version.status]),
        },
      },
      {
        Update: {
          TableName: tableName,
          Key: toAttributes(keyOf(node)),
          ...update({ latest_version: nodeVersionView(version) }, ['pk', 'exists'], seen),
        },
      },
    ],
    deadline,
  );
  return failed === undefined;
}

function writeAwaited(upload: Upload, changes: Record<string, unknown>): Promise<boolean> {
  return write(nodeVersionKey(upload.nodeId, upload.version), changes, [
    ['id', '=', upload.versionId],
    ['status', '=', 'NodeVersionStatusPending'],
    ['upload_id', '=', upload.uploadId],
  ]);
}

async function write(key: Key, changes: Record<string, unknown>, clauses: Clause[]): Promise<boolean> {
  try {
    await dynamodb.send(
      new UpdateItemCommand({ TableName: tableName, Key: toAttributes(key), ...update(changes, ...clauses) }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw storeError(error);
  }
}

function keyOf({ pk, sk }: Item): Key {
  return { pk: String(pk), sk: String(sk) };
}
