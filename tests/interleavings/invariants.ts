import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { GetObjectCommand, GetObjectTaggingCommand } from '@aws-sdk/client-s3';
import { handler as bulkNodeVersions } from '../../functions/bulk-node-versions.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { publishedKeyOf, stagingKey } from '../../lib/bucket/object-keys.ts';
import { awaitedUpload, latestOf, versionCopy } from '../../lib/registry/node-versions.ts';
import { accountRecord } from '../../lib/attempts/account.ts';
import { callerHash, memberIdOf } from '../../lib/caller.ts';
import * as records from '../../lib/registry/records.ts';
import { laneOf } from '../../lib/work/lanes.ts';
import type { Item } from '../../lib/store/items.ts';
import {
  blockKey,
  keyOf,
  nodeKey,
  ownedNodeKey,
  personalAccessTokenKey,
  publisherKey,
} from '../../lib/store/keys.ts';
import { rebuildIndex } from '../../tools/admin/commands/index-files.ts';
import { keysBelow, readIndexFile, readObject } from '../support/bucket-objects.ts';
import { invoke } from '../support/invoke.ts';
import { type Ending, update } from './works.ts';
import { worldOf } from './worlds.ts';
import { catalogPath, configPath, nodePath, pieceOf } from '@node-registry/registry-rules/index-paths';

/** The registry of a world, read once. */
export interface Registry {
  items: readonly Item[];
  nodes: records.NodeRecord[];
  versions: records.NodeVersionRecord[];
  publishers: records.PublisherRecord[];
  /** The keys of the bucket. */
  keys: readonly string[];
  endings: readonly Ending[];
  /** Whether the index has been written since the last change. */
  isIndexed: boolean;
}

export function readRegistry(
  { items, keys }: Pick<Registry, 'items' | 'keys'>,
  endings: readonly Ending[],
  isIndexed: boolean,
): Registry {
  const all = (sk: RegExp) => items.filter((item) => sk.test(String(item.sk)));
  return {
    items,
    nodes: all(/^NODE$/).map((item) => records.nodeRecord(item)),
    versions: all(/^VERSION#/).map((item) => records.nodeVersionRecord(item)),
    publishers: all(/^PUBLISHER$/).map((item) => records.publisherRecord(item)),
    keys,
    endings,
    isIndexed,
  };
}

/** Whether an archive of the waiting version was put before. */
const wasUploaded = () => worldOf().known.isUploaded !== undefined;

type Invariant = (registry: Registry) => string[] | Promise<string[]>;

const nodeOf = ({ nodes }: Registry, { pk }: records.NodeVersionRecord) =>
  nodes.find((node) => node.pk === pk);
const publisherOf = ({ publishers }: Registry, id: string) =>
  publishers.find(({ pk }) => pk === publisherKey(id).pk);
const isPublished = (version: records.NodeVersionRecord) => version.archive_key !== undefined;

/** The credentials and invitations that outlived the membership of who made them. */
export function endsWithMembership(
  items: readonly Item[],
  publishers: readonly records.PublisherRecord[],
): string[] {
  return items
    .filter(({ sk, made_by, revoked_at }) => /^(?:TOKEN|TRUST|INV)/.test(`${sk}`) && made_by && !revoked_at)
    .filter(({ pk, made_by }) => {
      const users = Object.keys(publishers.find((each) => each.pk === pk)?.members ?? {});
      // During a rename, members come last.
      return users.length > 0 && !users.some((user) => memberIdOf(user) === made_by);
    })
    .map(({ sk }) => String(sk));
}

/** What holds of a registry whatever has happened to it. One entry is one sentence; a broken one names the records. */
const invariants: Record<string, Invariant> = {
  'a version has a node, and its node’s publisher': (registry) =>
    registry.versions
      .filter((version) => nodeOf(registry, version)?.publisher_id !== version.publisher_id)
      .map(({ version, publisher_id }) => `${version} of ${publisher_id}`),

  'a node has a version': ({ nodes, versions }) =>
    nodes.filter(({ pk }) => !versions.some((version) => version.pk === pk)).map(({ id }) => id),

  'a node is listed at its publisher, and nowhere else': ({ nodes, items }) => {
    const listed = items.filter(({ pk, sk }) => /^OWNED#/.test(String(pk)) && /^NODE#/.test(String(sk)));
    const wanted = nodes.map(({ publisher_id, id }) => ownedNodeKey(publisher_id, id));
    const names = (keys: readonly object[]) => keys.map((key) => JSON.stringify(keyOf(key))).sort();
    return isDeepStrictEqual(names(listed), names(wanted)) ? [] : names(listed);
  },

  'the latest version is the highest downloadable one, as it is': ({ nodes, versions }) =>
    nodes
      .filter(({ pk, latest_version }) => {
        const latest = latestOf(versions.filter((version) => version.pk === pk));
        return !isDeepStrictEqual(latest_version, latest && versionCopy(latest));
      })
      .map(({ latest_version }) => `${latest_version?.version} ${latest_version?.status}`),

  // A version that was registered during a ban of its publisher can't become active: its publisher is read again.
  'a version is banned with its node and publisher, and by nothing else': (registry) =>
    registry.versions
      .filter((version) => {
        const node = nodeOf(registry, version);
        const publisher = publisherOf(registry, version.publisher_id);
        const { bans, before_ban, status } = version;
        const isBanned = status === 'NodeVersionStatusBanned';
        return (
          (node?.status === 'NodeStatusBanned') !== (bans?.node !== undefined) ||
          ((publisher?.banned ?? false) !== (bans?.publisher !== undefined) && status !== records.pending) ||
          isBanned !== (bans !== undefined) ||
          isBanned !== (before_ban !== undefined)
        );
      })
      .map(({ version, status, bans }) => `${version} ${status} ${JSON.stringify(bans)}`),

  'a token, a trust and an invitation end with the membership of who made them': ({ items, publishers }) =>
    endsWithMembership(items, publishers),

  'no banned version has an address': async ({ versions }) => {
    const node_versions = versions.map(({ node_id, version }) => ({ node_id, version }));
    const { body } = await invoke(bulkNodeVersions, 'bulk-node-versions', { body: { node_versions } });
    interface Entry {
      identifier: object;
      error_message?: string;
      node_version?: { status: string; downloadUrl?: string };
    }
    return (body.node_versions as Entry[])
      .filter(
        ({ node_version: shown }) =>
          !shown || /Active|Flagged|Deleted/.test(shown.status) !== 'downloadUrl' in shown,
      )
      .map((entry) => JSON.stringify(entry));
  },

  'a withdrawn version is published, and knows its earlier state': ({ versions }) =>
    versions
      .filter(({ status, before_ban, before_withdrawal, archive_key }) => {
        const isWithdrawn = (before_ban?.status ?? status) === records.withdrawn;
        return (
          isWithdrawn !== (before_withdrawal !== undefined) || (isWithdrawn && archive_key === undefined)
        );
      })
      .map(({ version, status }) => `${version} ${status}`),

  'a node counts its versions': ({ nodes, versions }) =>
    nodes
      .filter((node) => node.versions !== versions.filter(({ pk }) => pk === node.pk).length)
      .map(({ id, versions: count }) => `${id} ${count}`),

  'exactly the archives of banned versions are denied': async ({ keys, versions }) => {
    const archives = keys.filter((key) => key.startsWith('archives/'));
    const wrong = archives.map(async (Key) => {
      const { nodeId, version } = publishedKeyOf(Key) ?? {};
      const record = versions.find((each) => each.node_id === nodeId && each.version === version);
      const { TagSet = [] } = await s3().send(new GetObjectTaggingCommand({ Bucket: bucketName(), Key }));
      return TagSet.length > 0 === (record?.bans !== undefined) ? [] : [Key];
    });
    return (await Promise.all(wrong)).flat();
  },

  'a published archive has its digest, and a pending version none': async ({ versions }) => {
    const wrong = versions.map(async ({ archive_key, sha256, size_bytes, status, version }) => {
      if (archive_key === undefined)
        return status === records.pending || sha256 === undefined ? [] : [version];
      const bytes = await readBytes(archive_key);
      const found = bytes && createHash('sha256').update(bytes).digest('hex');
      return found === sha256 && bytes?.length === size_bytes && status !== records.pending ? [] : [version];
    });
    return (await Promise.all(wrong)).flat();
  },

  'what is owed is listed, and nothing else': ({ versions }) =>
    versions
      .filter((version) => {
        const { status, bans, host_node_extract_status: extract } = version;
        const owed = bans
          ? undefined
          : status === records.pending
            ? 'finalize'
            : extract === 'pending'
              ? 'extract'
              : undefined;
        return laneOf(version) !== owed;
      })
      .map(({ version, status, pending_shard }) => `${version} ${status} ${pending_shard}`),

  'the number of versions that a publisher has begun is that of their entries': ({ items }) =>
    items
      .filter(({ sk, open = 0, ...record }) => {
        const entries = Object.keys(record).filter((name) => name.startsWith('v@'));
        return sk === 'VERSIONS' && entries.length !== open;
      })
      .map(({ pk, open }) => `${pk} ${open}`),

  'an answered version exists until it is dropped': ({ items, versions, endings }) =>
    endings.flatMap(({ status, versionId }) =>
      status !== 201 ||
      versionId === undefined ||
      versions.some(({ id }) => id === versionId) ||
      items.some(({ action }) => action === 'node-version drop')
        ? []
        : [String(versionId)],
    ),

  // A publish names the node only if the version still waited, and the archive of its new URL never comes.
  'a pending version whose archive was removed says why': ({ keys, versions, nodes }) => {
    const staged = keys.filter((key) => key.startsWith('staging/'));
    const isResumed = nodes.some(({ name }) => name === 'resumed');
    return versions
      .filter(({ version, status, status_reason_code: code }) => {
        const isRemoved = !staged.some((key) => key.includes(`/${version}/`));
        return (
          wasUploaded() &&
          isRemoved &&
          !isResumed &&
          version === '1.1.0' &&
          status === records.pending &&
          code === 'awaiting_upload'
        );
      })
      .map(({ version }) => version);
  },

  'no archive of an upload that was superseded is published': ({ nodes, versions }) => {
    const isResumed = nodes.some(({ name }) => name === 'resumed');
    return versions
      .filter((version) => isResumed && version.version === '1.1.0' && isPublished(version))
      .map(({ version }) => version);
  },

  'a transferred node gets no version of its first publisher': ({ items, publishers, versions }) => {
    const [moved] = items.filter(
      ({ action, detail }) => action === 'node transfer' && /^acme/.test(`${detail}`),
    );
    // A merge takes the tokens along.
    const isMerged = publishers.some(({ id, moved_to }) => id === 'acme' && moved_to !== undefined);
    return versions
      .filter(({ published_at = '' }) => moved && !isMerged && published_at > String(moved.at))
      .map(({ version, published_at }) => `${version} at ${published_at}`);
  },

  'an owner edits nothing after a ban, and only the state that was read': ({ items }) => {
    const acts = items
      .filter(({ action }) => /^node (?:update|ban|unban)$/.test(String(action)))
      .sort((a, b) => String(a.at).localeCompare(String(b.at)));
    const late = acts.filter(
      ({ action, at }, place) =>
        action === 'node update' && acts[place - 1]?.action === 'node ban' && acts[place - 1]?.at !== at,
    );
    const onOneState = acts.filter(({ detail }) => detail === 'tags');
    return [...late, ...onOneState.slice(1)].map(({ detail }) => String(detail));
  },

  'a revoked token stays revoked, wherever it moved': ({ items }) => {
    const revoked = items.filter(({ action }) => action === 'token revoke').map(({ subject }) => subject);
    const tokens = items.filter(({ sk }) => String(sk).startsWith(personalAccessTokenKey('', '').sk));
    return tokens
      .filter(
        ({ id, revoked_at, made_by }) => !made_by && revoked.includes(id) !== (revoked_at !== undefined),
      )
      .map(({ pk, id }) => `${pk} ${id}`);
  },

  'each token exists once': ({ items }) => {
    const ids = items.flatMap(({ sk, id, made_by }) =>
      /^TOKEN#/.test(`${sk}`) && !made_by ? [`${id}`] : [],
    );
    return ids.length === 2 && new Set(ids).size === 2 ? [] : ids;
  },

  'a former id keeps nothing': ({ items, publishers }) =>
    publishers
      .filter(({ moved_to }) => moved_to !== undefined)
      .flatMap((publisher) =>
        items.filter(
          ({ pk, sk }) =>
            (pk === publisher.pk && /^TOKEN#/.test(String(sk))) || pk === ownedNodeKey(publisher.id, '').pk,
        ),
      )
      .map(({ pk, sk }) => `${pk} ${sk}`),

  'members stay until they are removed': ({ items, publishers }) => {
    const removed = items.filter(({ action }) => action === 'member remove').map(({ subject }) => subject);
    const members = publishers.flatMap((publisher) => Object.keys(publisher.members)).sort();
    const added = items.flatMap(({ action, subject }) =>
      action === 'member add' && subject === 'nina' ? ['nina'] : [],
    );
    const wanted = ['mats', ...added.slice(0, 1), 'olga', 'rita'].filter((user) => !removed.includes(user));
    return isDeepStrictEqual(members, wanted) ? [] : members;
  },

  'an edit in the history is in the record': ({ items, nodes, versions }) => {
    const has = (action: string, detail: string) =>
      items.some((item) => item.action === action && String(item.detail).includes(detail));
    const [node] = nodes.filter(({ pk }) => pk === nodeKey('pack').pk);
    const first = versions.find(({ node_id, version }) => node_id === 'pack' && version === '1.0.0');
    return [
      has('node update', 'description') === (node?.description === 'described') ? [] : 'description',
      has('node-version edit', 'deprecated') === (first?.deprecated === true) ? [] : 'deprecated',
    ].flat();
  },

  'a block is in the account and in the registry, and ends all edits': async ({ items }) => {
    const blocks = items.filter(({ sk }) => sk === 'BLOCK').map(({ pk }) => String(pk));
    const accounts = items.filter(({ sk }) => sk === 'ACCOUNT').map(accountRecord);
    const blocked = accounts.filter(({ limits }) => limits?.blocked);
    const wanted = blocked.map(({ caller }) => blockKey(callerHash(caller)).pk);
    const { body } = blocks.length > 0 ? await update({ description: 'late' }) : { body: {} };
    return isDeepStrictEqual(blocks, wanted) && body.error === (blocks[0] && 'caller_blocked')
      ? []
      : [...blocks, JSON.stringify(body)];
  },

  'a person’s edit of a host node stays': ({ items }) =>
    items
      .filter(({ edited_by, category }) => edited_by && category !== undefined && category !== 'edited')
      .map(({ sk }) => String(sk)),

  'nothing that nodes and publishers owe is left': ({ items }) =>
    items
      .filter(({ sk }) => /^(?:NODE|PUBLISHER)$/.test(String(sk)))
      .filter(({ intent, pending_shard }) => intent !== undefined || pending_shard !== undefined)
      .map(({ pk }) => String(pk)),

  'the index has what the table has': async (registry) => {
    const { isIndexed, nodes } = registry;
    if (!isIndexed) return [];
    const linesPerPiece = Number.MAX_SAFE_INTEGER;
    // Without its last line: what a page says of the state of other pages may be older than itself.
    const textOf = async (key: string) => (await readObject(key)).text.replace(/<!--[^>]*-->\n$/, '');
    const pages = new Map<string, string>();
    for (const key of await keysBelow('pages/nodes/')) pages.set(key, await textOf(key));
    const { written: all, removed } = await rebuildIndex({
      linesPerPiece,
      progress: () => {},
    });
    const written: string[] = [];
    for (const key of all) if (!pages.has(key) || pages.get(key) !== (await textOf(key))) written.push(key);
    const { catalog_pieces: pieces } = (await readIndexFile(configPath)).content;
    const shown = nodes.map(async ({ id, status, publisher_id }) => {
      const isBanned = status === 'NodeStatusBanned' || publisherOf(registry, publisher_id)?.banned;
      const { content } = await readIndexFile(nodePath(id)).catch(() => ({ content: { versions: [] } }));
      const piece = (await readIndexFile(catalogPath(pieces, pieceOf(id, pieces)))).content;
      const isListed = piece.nodes.some((entry: { id: string }) => entry.id === id);
      return isBanned && (content.versions.length > 0 || isListed) ? [`${id} is shown`] : [];
    });
    return [...written, ...removed, ...(await Promise.all(shown)).flat()];
  },
};

async function readBytes(Key: string): Promise<Uint8Array | undefined> {
  const found = s3().send(new GetObjectCommand({ Bucket: bucketName(), Key }));
  return (await found.catch(() => undefined))?.Body?.transformToByteArray();
}

export async function brokenInvariants(registry: Registry): Promise<string[]> {
  const broken = Object.entries(invariants).map(async ([sentence, invariant]) => {
    const found = await invariant(registry);
    return found.length === 0 ? [] : [`${sentence}: ${found.join(', ')}`];
  });
  return (await Promise.all(broken)).flat();
}

/** The versions that owe something that can be done: their archive is there, or has been published, or is denied. */
export function owingVersions({
  items,
  keys,
}: Pick<Registry, 'items' | 'keys'>): records.NodeVersionRecord[] {
  return items
    .filter(({ sk }) => String(sk).startsWith('VERSION#'))
    .map((item) => records.nodeVersionRecord(item))
    .filter(
      (version) =>
        laneOf(version) !== undefined &&
        (isPublished(version) || version.bans || keys.includes(stagingKey(awaitedUpload(version)))),
    );
}
