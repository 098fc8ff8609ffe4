import type * as z from 'zod/mini';
import { HostNode } from '@node-registry/registry-rules/schemas/host-node';
import type { Node, NodeStatus } from '@node-registry/registry-rules/schemas/node';
import type {
  NodeVersion,
  NodeVersionStatus,
  StatusReasonCode,
} from '@node-registry/registry-rules/schemas/node-version';
import type { Publisher, PublisherRole } from '@node-registry/registry-rules/schemas/publisher';
import { type Caller, callerName } from '../caller.ts';
import type { Once } from '../store/decide.ts';
import { historyKey, type Key } from '../store/keys.ts';
import { absent, typedRead, withChanges } from '../store/items.ts';
import { updating, type Write } from '../store/write.ts';
import type { Owing } from '../work/lanes.ts';

/*
 * The records of the table, one type per kind; lib/store/keys.ts has their keys. Attributes that a response
 * shows have the names and types of the response, so the compiler checks the views.
 */

/** A version whose archive has not arrived. */
export const pending: NodeVersionStatus = 'NodeVersionStatusPending';

/** A published version that its publisher has taken out of every list. */
export const withdrawn: NodeVersionStatus = 'NodeVersionStatusDeleted';

interface Stored extends Key {
  /** Increased by every write; a decision on one revision is written only over that revision. */
  revision: number;
}

/** A node or a publisher: what depends on it may have to follow it. */
export interface Aligned extends Stored, Owing {
  /** The decision that is to be followed; absent if all follows. */
  intent?: string;
  /** The label of the only version that it concerns. */
  only?: string;
  /** The sort key of the last version, or of a publisher's last node, that follows it; absent until archives do. */
  aligned_to?: string;
  /** Until then, work for an earlier decision may run. What was decided meanwhile is followed once more then. */
  again_at?: string;
}

export interface Member {
  role: PublisherRole;
  name?: string;
  email?: string;
}

export type MemberChanges = { [Name in keyof Member]?: Member[Name] | undefined };

export interface PublisherRecord extends Aligned, Omit<Publisher, 'id' | 'members'> {
  id: string;
  members: Record<string, Member>;
  banned?: true;
  ban_reason?: string;
  /** The id that replaces this one after a rename or a merge. The record reserves the old id. */
  moved_to?: string;
  moved_at?: string;
  moved_by?: string;
  /** The limit of new nodes in a UTC day, of a publisher that a person made. */
  new_nodes_per_day?: number;
}

/** Lists a publisher with a member. After a rename it leads to the new one. */
export interface MembershipRecord extends Key {
  publisher: string;
}

/** How many publishers a person has made, or all people on a day. */
export interface MadeRecord extends Key {
  publishers?: number;
  revision: number;
  /** In seconds, for DynamoDB. */
  ttl?: number;
}

/** A way to become a member, for who has its secret. */
export interface InvitationRecord extends Stored {
  id: string;
  role: PublisherRole;
  user_id?: string | undefined;
  email?: string | undefined;
  created_at: string;
  expires_at: string;
  made_by: string;
  /** In seconds, for DynamoDB. */
  ttl: number;
}

/** Counts the credentials and invitations of a publisher that were made. */
export type CredentialsRecord = Stored;

/** A publisher's means of publishing. */
export interface CredentialRecord extends Stored {
  id: string;
  /** The member id of who made it; absent if the administration did. It ends with the membership. */
  made_by?: string;
  created_at: string;
  last_used_at?: string;
  revoked_at?: string;
  /** In seconds, for DynamoDB. */
  ttl?: number;
}

export interface TokenRecord extends CredentialRecord {
  label: string;
  description?: string | undefined;
  expires_at: string;
  node_id?: string | undefined;
}

/** The CI jobs that may publish. The ids are those of the first job that did. */
export interface TrustRecord extends CredentialRecord {
  issuer: string;
  repository: string;
  workflow: string;
  /** The called workflow, in full: `octo/shared/.github/workflows/publish.yml@refs/heads/main`. */
  job_workflow?: string | undefined;
  environment?: string | undefined;
  /** A branch or tag; with `*` at the end, a prefix of its name. */
  ref?: string | undefined;
  /** An event that is trusted in addition to the usual ones. */
  event?: string | undefined;
  node_id?: string | undefined;
  repository_id?: string;
  owner_id?: string;
}

/** The version that an ID token was used for. The record expires after the token. */
export interface IdTokenRecord extends Key {
  used_for: string;
  ttl: number;
}

/** The part of a version that its node also shows: with `latest_version`, one read returns a whole node. */
export interface VersionCopy extends Omit<NodeVersion, 'downloadUrl'> {
  id: string;
  version: string;
  status: NodeVersionStatus;
  /** The archive's key in the bucket, once it has been published. */
  archive_key?: string;
  published_at?: string;
}

export interface NodeVersionRecord extends Stored, VersionCopy, Omit<Owing, keyof Key> {
  host_node_extract_status: NonNullable<VersionCopy['host_node_extract_status']>;
  node_id: string;
  publisher_id: string;
  createdAt: string;
  /** The label as its publisher spelled it, if not in its normal form. */
  label?: string;
  /** The user who published it, if the request had a user's token. */
  published_by?: string;
  /** Whether that user was a member: an admin need not be one. */
  by_member?: true;
  /** The credential: a personal access token, or a job that the publisher trusts. */
  token_id?: string;
  token_hash?: string;
  trust_id?: string;
  /** The only upload that may bring the archive. */
  upload_id?: string;
  /** The rejected archives that came to that upload's URL, by their S3 version ids. */
  rejected_objects?: readonly string[];
  /** The reasons for its bans, by the banned subject: it stays banned until the last of them is lifted. */
  bans?: Partial<Record<BanSubject, string>>;
  /** The state that lifting its last ban brings back. */
  before_ban?: Shown;
  /** The state that its restoration brings back. */
  before_withdrawal?: Shown;
  /** The result of the last extraction of host nodes. */
  extraction?: ExtractionSummary;
}

/** What the index `versions` has of a version. */
export type ListedVersion = Pick<
  NodeVersionRecord,
  'pk' | 'sk' | 'id' | 'version' | 'status' | 'deprecated' | 'published_at' | 'createdAt' | 'bans'
>;

interface ExtractionSummary {
  /** The extractor's version. */
  by: number;
  at: string;
  nodes: number;
  /** The number of fields left open. */
  open_fields: number;
  /** The entries of `tags_admin` that it added, so that the next extraction can remove them. */
  tags?: readonly string[];
}

type BanSubject = 'version' | 'node' | 'publisher';

interface Shown {
  status: NodeVersionStatus;
  status_reason?: string | undefined;
  status_reason_code?: StatusReasonCode | undefined;
}

/** The versions that a publisher began to publish, and when, in milliseconds; and its new nodes of a day. */
export interface BegunRecord extends Key, Partial<Record<`v@${string}` | `nodes:${string}`, number>> {
  revision: number;
  /** The number of entries: a condition can't count them. */
  open?: number;
  /** Until when no more versions may become pending, in milliseconds. */
  full_until?: number;
}

export interface NodeRecord extends Aligned, Omit<Node, 'publisher' | 'latest_version' | 'translations'> {
  id: string;
  publisher_id: string;
  status: NodeStatus;
  created_at: string;
  latest_version?: VersionCopy;
  /** How many versions were registered, and how many may be if the administration has raised that. */
  versions?: number;
  max_versions?: number;
  /** A node that was withdrawn before its ban is withdrawn again when the ban is lifted. */
  before_ban?: Pick<NodeRecord, 'status' | 'status_detail'>;
  /** The last person who updated it, and when. The history has the fields; a publish is in neither. */
  edited_by?: string;
  edited_at?: string;
  /** JSON: DynamoDB's maps limit the depth and the size of numbers, free-form objects don't. */
  translations?: string;
}

/** Lists a node with its publisher; written once, in the transaction that creates the node. */
export interface OwnedNodeRecord extends Key {
  node_id: string;
  created_at: string;
  /** Absent until the node has moved. */
  revision?: number;
}

export interface HostNodeRecord extends Stored, HostNode {
  host_node_name: string;
  /**
   * The fields that a person wrote or cleared, which an extraction never changes. Contains `host_node_name`
   * if a person has written the entry at all.
   */
  touched: readonly string[];
  /**
   * The last editor, and when. There is no history: an edit is one write unit, and earlier states are in the
   * table's continuous backups.
   */
  edited_by?: string;
  edited_at?: string;
  /** The version of the extractor that wrote the other fields. */
  extracted_by?: number;
}

/** What people wrote for the host nodes of one version; what extractions wrote doesn't count. */
export interface HostNodeTotalsRecord extends Stored {
  bytes: number;
  names: number;
}

/** The names that admins have banned for all versions of a node. No entry keeps that policy itself. */
export interface HostNodeBansRecord extends Stored {
  names: readonly string[];
}

/** One change, written in its transaction. */
export interface HistoryRecord extends Key {
  at: string;
  actor: string;
  action: string;
  subject: string;
  detail?: string | undefined;
  /** What the administration says of its act to the publisher. */
  public_reason?: string | undefined;
}

export const alignedRecord = typedRead<Aligned>();
export const publisherRecord = typedRead<PublisherRecord>();
export const credentialRecord = typedRead<CredentialRecord>();
export const tokenRecord = typedRead<TokenRecord>();
export const credentialsRecord = typedRead<CredentialsRecord>();
export const invitationRecord = typedRead<InvitationRecord>();
export const membershipRecord = typedRead<MembershipRecord>();
export const madeRecord = typedRead<MadeRecord>();
export const trustRecord = typedRead<TrustRecord>();
export const idTokenRecord = typedRead<IdTokenRecord>();
export const begunRecord = typedRead<BegunRecord>();
export const nodeRecord = typedRead<NodeRecord>();
export const nodeVersionRecord = typedRead<NodeVersionRecord>();
export const listedVersion = typedRead<ListedVersion>();
export const ownedNodeRecord = typedRead<OwnedNodeRecord>();
export const hostNodeRecord = typedRead<HostNodeRecord>();
export const hostNodeTotalsRecord = typedRead<HostNodeTotalsRecord>();
export const hostNodeBansRecord = typedRead<HostNodeBansRecord>();
export const historyRecord = typedRead<HistoryRecord>();

/**
 * The attributes in a schema, in its order. So new bookkeeping never reaches a caller, and responses have a
 * stable order, which DynamoDB doesn't keep.
 */
export function pickFields<Schema extends z.ZodMiniObject>(
  record: z.output<Schema>,
  { shape }: Schema,
): z.output<Schema> {
  const names = Object.keys(shape).filter((name) => Object.hasOwn(record, name));
  return Object.fromEntries(names.map((name) => [name, record[name]])) as z.output<Schema>;
}

/**
 * What there is of an entry that the last extraction of its version did not find: what people have written; undefined if
 * that is nothing.
 */
export function standingEntry(
  entry: HostNodeRecord,
  { extraction }: Pick<NodeVersionRecord, 'extraction'>,
): HostNodeRecord | undefined {
  const { extracted_by, touched } = entry;
  if (extracted_by === undefined || extracted_by >= (extraction?.by ?? 0)) return entry;
  if (touched.length === 0) return undefined;
  const gone = Object.keys(HostNode.shape).filter((field) => ![...touched, 'policy'].includes(field));
  return withChanges(entry, Object.fromEntries(gone.map((field) => [field, null])));
}

/** With a ban of its name, and without the open parts of fields that a person has written since. */
export function hostNodeView(entry: HostNodeRecord, bans: HostNodeBansRecord | undefined): HostNode {
  const { left_open, ...shown } = pickFields(entry, HostNode);
  const open = left_open?.filter((text) => !entry.touched.includes(text.split(':', 1)[0] ?? ''));
  const isBanned = bans?.names.includes(entry.host_node_name);
  const policy = isBanned && { policy: 'HostNodePolicyBanned' as const };
  return { ...shown, ...policy, ...(open?.length && { left_open: open }) };
}

/** One change in the history of `of`, a publisher or node. */
export interface Change {
  of: Key;
  action: string;
  subject: string;
  detail?: string | undefined;
}

/** Whether something was changed, or everything was already as it should be. */
export interface Changed<Result> {
  result: Result;
  changed: boolean;
}

/** The administration, under the name that the history has. */
export interface Operator {
  operator: string;
  /** What it says of its act to the publisher. */
  publicReason?: string | undefined;
}

/** Who changes something. */
export type Actor = Caller | Operator;

/** By the name in the history: an issuer chooses what follows the prefix, and the administration's have none. */
export function isOfPublisher(actor: string): boolean {
  return /^(?:user:|ci:|token:|erased$)/.test(actor);
}

/** Part of the transaction that makes the change. A text is the actor's name in the history. */
export function historyOf(by: Actor | string, { of, ...change }: Change, { id, now }: Once): Write {
  const at = new Date(now).toISOString();
  const { operator: actor, publicReason: public_reason }: Operator =
    typeof by === 'object' && 'operator' in by
      ? by
      : { operator: typeof by === 'string' ? by : callerName(by) };
  const side = isOfPublisher(actor) ? 'OWNERS' : 'REGISTRY';
  return updating<HistoryRecord>(
    historyKey(of, side, at, id),
    { at, actor, public_reason, ...change },
    absent,
  );
}
