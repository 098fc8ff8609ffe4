import { randomUUID } from 'node:crypto';
import type * as z from 'zod/mini';
import { HostNode } from 'registry-rules/schemas/host-node';
import type { Node, NodeStatus } from 'registry-rules/schemas/node';
import type { NodeVersion, NodeVersionStatus, StatusReasonCode } from 'registry-rules/schemas/node-version';
import type { Publisher, PublisherRole } from 'registry-rules/schemas/publisher';
import { historyKey, type Key } from '../store/keys.ts';
import { absent, typedRead } from '../store/items.ts';
import { updating, type Write } from '../store/write.ts';

/*
 * What the table holds, one type per kind of record; lib/store/keys.ts has their keys. Attributes that an answer
 * shows have the names and types of the answer, so that the views are checked by the compiler.
 */

/** A version whose archive has not arrived. */
export const pending: NodeVersionStatus = 'NodeVersionStatusPending';

interface Stored extends Key {
  /** Counted on by every write; what was decided on one revision is written only over that one. */
  revision: number;
}

export interface Member {
  role: PublisherRole;
  name?: string;
  email?: string;
}

export interface PublisherRecord extends Stored, Omit<Publisher, 'id' | 'members'> {
  id: string;
  members: Record<string, Member>;
  banned?: true;
  ban_reason?: string;
  /** The id that this one means since then, after a rename or a merge. The record reserves the old id. */
  moved_to?: string;
  moved_at?: string;
  /** The id that a rename has begun to give it. */
  moving_to?: string;
  renamed_from?: string;
}

/** What a publisher publishes with. */
export interface CredentialRecord extends Stored {
  id: string;
  created_at: string;
  last_used_at?: string;
  revoked_at?: string;
}

export interface TokenRecord extends CredentialRecord {
  label: string;
  expires_at: string;
}

/** The jobs of a CI that may publish. The ids are those of the first job that did. */
export interface TrustRecord extends CredentialRecord {
  issuer: string;
  repository: string;
  workflow: string;
  /** The workflow that the job uses, whole: `octo/shared/.github/workflows/publish.yml@refs/heads/main`. */
  job_workflow?: string | undefined;
  environment?: string | undefined;
  /** A branch or tag, or with `*` at the end all that begin so. */
  ref?: string | undefined;
  node_id?: string | undefined;
  repository_id?: string;
  owner_id?: string;
}

/** What an ID token was used for. Once it has expired, the record may go. */
export interface IdTokenRecord extends Key {
  used_for: string;
  ttl: number;
}

/** Of a version what its node shows of it too: `latest_version` is a copy, so that one read answers a whole node. */
export interface VersionCopy extends Omit<NodeVersion, 'downloadUrl'> {
  id: string;
  version: string;
  status: NodeVersionStatus;
  /** Where the archive lies in the bucket, once it has been published. */
  archive_key?: string;
  published_at?: string;
}

export interface NodeVersionRecord extends Stored, VersionCopy {
  host_node_extract_status: NonNullable<VersionCopy['host_node_extract_status']>;
  node_id: string;
  publisher_id: string;
  createdAt: string;
  /** The label as its publisher spelled it, if not in its normal form. */
  label?: string;
  /** Who published it, as far as a person's token came with the request. */
  published_by?: string;
  /** With what: a personal access token, or a job that the publisher trusts. */
  token_id?: string;
  token_hash?: string;
  trust_id?: string;
  /** The one upload that may bring the archive. */
  upload_id?: string;
  /** The archives that came to that upload's address and were rejected, by S3's ids of them. */
  refused_objects?: readonly string[];
  /** Which finalizer checks an archive for it, and until when, in milliseconds. */
  checked_by?: string;
  checked_until?: number;
  /** Present while something is left to do; the index `pending` lists these. */
  pending_shard?: string;
  pending_since?: string;
  /** Why it is banned, by what was banned: it stays banned until the last of them is lifted. */
  bans?: Partial<Record<BanSubject, string>>;
  before_ban?: BeforeBan;
  /** What the last extraction of host nodes found. */
  extraction?: ExtractionSummary;
  /** How many times reading its archive was begun, until one of them came to an end. */
  extraction_tries?: number;
}

interface ExtractionSummary {
  /** The extractor's version. */
  by: number;
  at: string;
  nodes: number;
  /** How many fields were left open. */
  open_fields: number;
  /** Those of `tags_admin` that it added, so that the next one can take them back. */
  tags?: readonly string[];
}

export type BanSubject = 'version' | 'node' | 'publisher';

/** What a ban puts aside, and what lifting it puts back. */
type BeforeBan = Pick<NodeVersionRecord, 'status' | 'pending_shard' | 'pending_since'> & {
  status_reason?: string | undefined;
  status_reason_code?: StatusReasonCode | undefined;
};

/** What bounds a publisher's publishing: how many new nodes it has on a day. */
export interface PublishingRecord extends Key, Partial<Record<`nodes:${string}`, number>> {
  revision: number;
  /** Until when no more may be pending, in milliseconds. */
  full_until?: number;
}

/** A version that a publisher began to publish. */
export interface PendingVersionRecord extends Key {
  version_pk: string;
  version_sk: string;
  at: string;
}

export interface NodeRecord extends Stored, Omit<Node, 'publisher' | 'latest_version' | 'translations'> {
  id: string;
  publisher_id: string;
  status: NodeStatus;
  created_at: string;
  latest_version?: VersionCopy;
  /** A withdrawn node is withdrawn again when its ban is lifted. */
  before_ban?: Pick<NodeRecord, 'status' | 'status_detail'>;
  /** Who updated it last, and when. The history has the fields; a publish is in neither. */
  edited_by?: string;
  edited_at?: string;
  /** JSON: DynamoDB's maps bound the depth and the size of numbers, free-form objects do not. */
  translations?: string;
}

/** Lists a node with its publisher; written once, in the transaction that creates the node. */
export interface OwnedNodeRecord extends Key {
  node_id: string;
  created_at: string;
}

export interface HostNodeRecord extends Stored, HostNode {
  host_node_name: string;
  /**
   * The fields that a person wrote or cleared, which an extraction leaves alone for ever; with `host_node_name` once a
   * person has written the entry at all.
   */
  touched?: readonly string[];
  /**
   * Who edited it last, and when. It has no history: an edit is one write unit, and earlier states are in the table's
   * continuous backups.
   */
  edited_by?: string;
  edited_at?: string;
  /** The version of the extractor that wrote the other fields. */
  extracted_by?: number;
  /** Of the last write; random. */
  write_id?: string;
}

/** One change, written in its transaction. */
export interface HistoryRecord extends Key {
  at: string;
  actor: string;
  action: string;
  subject: string;
  detail?: string | undefined;
}

/** The typed reads, one per kind of record. */
export const publisherRecord = typedRead<PublisherRecord>();
export const credentialRecord = typedRead<CredentialRecord>();
export const tokenRecord = typedRead<TokenRecord>();
export const trustRecord = typedRead<TrustRecord>();
export const idTokenRecord = typedRead<IdTokenRecord>();
export const publishingRecord = typedRead<PublishingRecord>();
export const pendingVersionRecord = typedRead<PendingVersionRecord>();
export const nodeRecord = typedRead<NodeRecord>();
export const nodeVersionRecord = typedRead<NodeVersionRecord>();
export const ownedNodeRecord = typedRead<OwnedNodeRecord>();
export const hostNodeRecord = typedRead<HostNodeRecord>();
export const historyRecord = typedRead<HistoryRecord>();

/**
 * The attributes that a schema names, in its order: bookkeeping never reaches a caller, whatever is added to it,
 * and answers read alike each time, though DynamoDB keeps no order.
 */
export function pickFields<Shown extends object>(
  record: Shown,
  { shape }: { shape: { [Name in keyof Shown]-?: z.ZodMiniType } },
): Shown {
  const names = Object.keys(shape).filter((name) => Object.hasOwn(record, name)) as (keyof Shown)[];
  return Object.fromEntries(names.map((name) => [name, record[name]])) as Shown;
}

/** Without the parts left open of fields that a person has written since. */
export function hostNodeView(entry: HostNodeRecord): HostNode {
  const { left_open, ...shown } = pickFields<HostNode>(entry, HostNode);
  const open = left_open?.filter((text) => !entry.touched?.includes(text.split(':', 1)[0] ?? ''));
  return { ...shown, ...(open?.length && { left_open: open }) };
}

/** One change, as its history tells it; `of` is the publisher or node whose history it belongs to. */
export interface Change {
  of: Key;
  action: string;
  subject: string;
  detail?: string | undefined;
}

/** Part of the transaction that makes the change. */
export function historyOf(actor: string, { of, ...change }: Change): Write {
  const at = new Date().toISOString();
  return updating<HistoryRecord>(historyKey(of, at, randomUUID()), { at, actor, ...change }, absent);
}
