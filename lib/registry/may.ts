import { callerHash, callerName, memberIdOf } from '../caller.ts';
import { ApiError, type ErrorCode, errorCatalog } from '../errors.ts';
import { blockKey, isSameNodeId, type Key } from '../store/keys.ts';
import type { AcceptedCredential } from './credentials.ts';
import { isDownloadable } from './node-versions.ts';
import { isGivenUp, isLastOwner, memberOf } from './publishers.ts';
import {
  type Actor,
  type CredentialRecord,
  type NodeRecord,
  type NodeVersionRecord,
  type PublisherRecord,
  pending,
  withdrawn,
} from './records.ts';

/*
 * Who may do what, and what closes it. `answers` lists the reasons against an action in the order in which
 * they are checked: the first one that holds is the answer. At `wrong caller`, the caller must be among `who`.
 *
 *   token, CI job   the credential of a publish; a person who sends it must be among `who` as well
 *   person          has an access token, and signs in for oneself
 *   maker           made the token or the trust
 *   admin           has an access token with the claim of admins, and passes the answers of `adminPasses`
 *   operator        runs the administration's commands, and passes the same
 *   service         continues what was begun, without a caller
 *
 * `blocked caller` is about a person: a token or a CI job alone passes it. What no row names, such as moving a node, only
 * the operator does.
 *
 * To add an action, add its row here and its states in tests/lib/registry/may.test.ts, which doesn't compile
 * without them.
 */

type Who = Person | 'anyone' | 'token' | 'CI job' | 'operator' | 'service';
type Person = 'person' | 'maker' | 'member' | 'owner' | 'admin';

const ownNode = {
  who: ['owner', 'admin'],
  answers: [
    'blocked caller',
    'unknown publisher',
    'unknown node',
    'node of another publisher',
    'wrong caller',
    'banned publisher',
    'banned node',
  ],
  adminPasses: ['banned publisher', 'banned node'],
} as const;

const publish = {
  who: ['token', 'CI job', 'member', 'owner', 'admin'],
  answers: [
    'blocked caller',
    'unknown publisher',
    'invalid credential',
    'wrong caller',
    'banned publisher',
    'similar node id',
    'node of another publisher',
    'withdrawn node',
    'banned node',
  ],
} as const;

const hostNode = {
  who: ['owner', 'admin'],
  answers: [
    'blocked caller',
    'unknown node',
    'banned node',
    'unknown version',
    'publisher gone',
    'wrong caller',
    'banned publisher',
  ],
  adminPasses: ['banned node', 'publisher gone', 'banned publisher'],
} as const;

const ownVersion = {
  who: [...ownNode.who, 'operator'],
  answers: [...ownNode.answers, 'unknown version', 'banned version'],
  adminPasses: ownNode.adminPasses,
} as const;

/** Of a publisher, by self-service or the administration. */
const ownPublisher = {
  who: ['owner', 'admin', 'operator'],
  answers: ['blocked caller', 'unknown publisher', 'wrong caller', 'banned publisher'],
  adminPasses: ['banned publisher'],
} as const;

/** Never closed to who is blocked or banned: it only takes rights away. */
const revocation = {
  who: ['maker', 'owner', 'admin', 'operator'],
  answers: ['unknown publisher', 'wrong caller'],
} as const;

const table = {
  // Also banned ones, whose answer has no address.
  'read versions': { who: ['anyone'], answers: [] },

  'update node': ownNode,
  'withdraw node': ownNode,
  'restore node': ownNode,
  "change an admin's field": { who: ['admin'], answers: ['wrong caller'] },
  'ban or unban node': { who: ['operator'], answers: ['wrong caller'] },
  'ban or unban publisher': { who: ['operator'], answers: ['wrong caller', 'unknown publisher'] },

  'publish version': publish,
  'resume version': { ...publish, answers: [...publish.answers, 'published version', 'other spelling'] },
  // A publish that only deprecates a published version, or changes its log.
  'edit version': publish,
  'edit own version': { ...ownVersion, answers: [...ownVersion.answers, 'unpublished version'] },
  // The withdrawal of a pending version drops it.
  'withdraw version': ownVersion,
  'restore version': { ...ownVersion, answers: [...ownVersion.answers, 'pending version'] },
  'flag or unflag version': { who: ['operator'], answers: ['wrong caller', 'unpublished version'] },
  'move publisher': { who: ['operator'], answers: ['wrong caller', 'unknown publisher'] },
  'activate version': {
    who: ['service'],
    answers: [
      'publisher gone',
      'banned publisher',
      'node gone',
      'node of another publisher',
      'withdrawn node',
      'banned node',
      'credential gone',
      'revoked credential',
      'former member',
    ],
  },

  'create publisher': {
    who: ['person', 'operator'],
    answers: ['blocked caller', 'wrong caller', 'taken publisher id'],
  },
  'edit publisher': ownPublisher,
  'see publisher': { who: ['member', 'owner', 'admin'], answers: ['unknown publisher', 'wrong caller'] },
  'see all of publisher': { who: ['owner', 'admin'], answers: ['unknown publisher', 'wrong caller'] },
  'create token': { ...ownPublisher, who: ['member', 'owner', 'admin', 'operator'] },
  'revoke token': revocation,
  'add trust': ownPublisher,
  'end trust': revocation,
  'change member': { ...ownPublisher, answers: [...ownPublisher.answers, 'last owner'] },
  'leave publisher': {
    who: ['member', 'owner', 'operator'],
    answers: ['unknown publisher', 'wrong caller', 'last owner'],
  },
  'invite member': ownPublisher,
  'withdraw invitation': { ...revocation, who: ['owner', 'admin'] },
  'accept invitation': {
    who: ['person'],
    answers: ['blocked caller', 'wrong caller', 'unknown publisher', 'banned publisher'],
  },

  'update host node': hostNode,
  'ban or unban host node': { ...hostNode, who: ['admin'] },
  'add host node': {
    ...hostNode,
    answers: [...hostNode.answers, 'unknown name'],
    adminPasses: [...hostNode.adminPasses, 'unknown name'],
  },
} as const satisfies Record<string, Row>;

interface Row {
  who: readonly Who[];
  answers: readonly Answer[];
  adminPasses?: readonly Answer[];
}

export type Action = keyof typeof table;

/** The record that closes to a caller every action but those that only take rights away, for as long as it is there. */
export function blockOf(actor: Actor | undefined): Key | undefined {
  return actor && 'userId' in actor ? blockKey(callerHash(callerName(actor))) : undefined;
}

/** The records that an action is about, as they were read, and what its sentences name. */
export interface Subject {
  /** The record of `blockOf`. */
  block?: object | undefined;
  publisher?: PublisherRecord | undefined;
  node?: NodeRecord | undefined;
  version?: NodeVersionRecord | undefined;
  /** The id in the request: ids that differ in punctuation share a record. */
  nodeId?: string;
  /** The version's label as sent. */
  label?: string | undefined;
  credential?: AcceptedCredential | ApiError;
  /** The credential that a pending version was published with. */
  usedCredential?: CredentialRecord | undefined;
  /** The member id of who made the token or the trust. */
  madeBy?: string | undefined;
  /** The user who would be an owner no longer. */
  leaving?: string | undefined;
  /** The paths of fields that only `who` may change. */
  fields?: readonly string[];
  /** The name in the archive that an unknown name most likely means. */
  meant?: string | undefined;
  verb?: string;
}

type Reason = readonly [
  holds: (subject: Subject) => unknown,
  code: ErrorCode,
  sentence?: (subject: Subject) => string | undefined,
];

const reasons = {
  'blocked caller': [({ block }) => block, 'caller_blocked'],
  'unknown publisher': [
    ({ publisher }) => !publisher || isGivenUp(publisher),
    'publisher_not_found',
    ({ publisher }) =>
      publisher && `This publisher is "${publisher.moved_to}" now, and its old id is no longer accepted.`,
  ],
  'taken publisher id': [({ publisher }) => publisher, 'publisher_id_taken'],
  'last owner': [
    ({ publisher, leaving }) => publisher && leaving !== undefined && isLastOwner(publisher, leaving),
    'last_owner',
    ({ publisher, leaving }) =>
      `"${leaving}" is the last owner of "${publisher?.id}", and without an owner its nodes can't be edited: add another owner first.`,
  ],
  'publisher gone': [({ publisher }) => !publisher, 'forbidden'],
  'banned publisher': [({ publisher }) => publisher?.banned, 'publisher_banned'],
  'unknown node': [({ node, nodeId = '' }) => !node || !isSameNodeId(node.id, nodeId), 'node_not_found'],
  'node gone': [({ node }) => !node, 'node_not_found'],
  'node of another publisher': [
    ({ node, publisher }) => node && node.publisher_id !== publisher?.id,
    'forbidden',
    ({ credential }) => credential && 'The node belongs to another publisher.',
  ],
  'similar node id': [({ node, nodeId = '' }) => node && !isSameNodeId(node.id, nodeId), 'node_id_taken'],
  'withdrawn node': [
    ({ node }) => node?.status === 'NodeStatusDeleted',
    'node_id_taken',
    () => withdrawnNode,
  ],
  'banned node': [({ node }) => node?.status === 'NodeStatusBanned', 'node_banned'],
  'unknown version': [({ version }) => !version, 'node_version_not_found'],
  'published version': [
    ({ version }) => version && version.status !== pending,
    'version_exists',
    // A version that was banned before its archive arrived has never been published, and can't be.
    ({ version }) =>
      (version?.status === 'NodeVersionStatusBanned' &&
        'This version is banned; publish a new version instead.') ||
      (version?.status === withdrawn && 'This version is withdrawn; restore it, or publish a new version.') ||
      undefined,
  ],
  // Two spellings of one label are most likely two versions, and the second would replace the pending one.
  'other spelling': [
    ({ version, label }) => version && begunAs(version) !== label,
    'version_exists',
    ({ version, label }) => {
      const begun = version && begunAs(version);
      return `"${label}" is another spelling of "${begun}", which waits for its archive. Publish "${begun}" to resume it, or choose another version.`;
    },
  ],
  'unpublished version': [
    ({ version }) => version && !isDownloadable(version),
    'conflict',
    ({ version, verb }) => `${stateOf(version)}; only active and flagged ones can be ${verb}.`,
  ],
  'banned version': [
    ({ version }) => version?.status === 'NodeVersionStatusBanned',
    'conflict',
    ({ version }) => `${stateOf(version)}, and its state stays until the ban is lifted.`,
  ],
  'pending version': [
    ({ version }) => version?.status === pending,
    'conflict',
    ({ version }) => `${stateOf(version)}; only withdrawn ones can be restored.`,
  ],
  'unknown name': [
    ({ version }) => version?.host_node_extract_status === 'success',
    'host_node_not_found',
    ({ meant }) => meant && `${errorCatalog.host_node_not_found.message} Did you mean "${meant}"?`,
  ],
  'invalid credential': [({ credential }) => credential instanceof ApiError, 'invalid_personal_access_token'],
  'credential gone': [({ usedCredential }) => !usedCredential, 'invalid_personal_access_token'],
  'revoked credential': [
    ({ usedCredential }) => usedCredential?.revoked_at !== undefined,
    'invalid_personal_access_token',
  ],
  // During a rename, the members come last.
  'former member': [
    ({ publisher, version }) =>
      version?.by_member &&
      publisher &&
      Object.keys(publisher.members).length > 0 &&
      !memberOf(publisher, version.published_by ?? ''),
    'forbidden',
  ],
  // `closedBy` knows the caller and the row.
  'wrong caller': [() => false, 'forbidden'],
} as const satisfies Record<string, Reason>;

const withdrawnNode =
  'The node is withdrawn and takes no new version. Update it with status NodeStatusActive, then publish again.';

function stateOf(version: NodeVersionRecord | undefined): string {
  const { version: label, node_id, status = '' } = version ?? {};
  const state = status === withdrawn ? 'withdrawn' : status.replace('NodeVersionStatus', '').toLowerCase();
  return `Version ${label} of "${node_id}" is ${state}`;
}

function begunAs({ label, version }: NodeVersionRecord): string {
  return label ?? version;
}

type Answer = keyof typeof reasons;

/** The reason that closes an action to a caller; undefined if none does. */
export function closedBy<A extends Action>(
  actor: Actor | undefined,
  action: A,
  subject: Subject,
): AnswerOf<A> | undefined {
  const { who, answers, adminPasses = [] }: Row = table[action];
  const passed = actor && ('operator' in actor || actor.isAdmin) ? adminPasses : [];
  const answer = answers.find(
    (each) =>
      !passed.includes(each) &&
      (each === 'wrong caller' ? !isAmong(who, actor, subject) : reasons[each][0](subject)),
  );
  return answer as AnswerOf<A> | undefined;
}

export type AnswerOf<A extends Action> = (typeof table)[A]['answers'][number];

function isAmong(
  who: readonly Who[],
  actor: Actor | undefined,
  { publisher, credential, madeBy }: Subject,
): boolean {
  // The credential acts alone.
  if (actor === undefined) return credential !== undefined;
  if ('operator' in actor) return who.includes('operator');
  if (who.includes('person')) return true;
  if (actor.isAdmin && who.includes('admin')) return true;
  if (madeBy === memberIdOf(actor.userId) && who.includes('maker')) return true;
  const role = publisher && memberOf(publisher, actor.userId)?.role;
  return role !== undefined && who.includes(role);
}

/** The records of an action that is allowed, or the error to answer. */
export function ask<A extends Action, S extends Subject>(
  actor: Actor | undefined,
  action: A,
  subject: S,
): ApiError | (Omit<S, keyof Known<A>> & Known<A>) {
  const answer = closedBy(actor, action, subject);
  if (answer === undefined) return subject as S & Known<A>;
  const { credential, fields } = subject;
  if (answer === 'invalid credential' && credential instanceof ApiError) return credential;
  if (answer === 'wrong caller' && fields) return wrongFields(table[action].who, fields);
  const [, code, sentence]: Reason = reasons[answer];
  const message = sentence?.(subject);
  return new ApiError(code, message === undefined ? {} : { message });
}

/** Throws the error of an action that is closed. Call it first, or as soon as the action is known. */
export function may<A extends Action, S extends Subject>(
  actor: Actor | undefined,
  action: A,
  subject: S,
): Omit<S, keyof Known<A>> & Known<A> {
  const allowed = ask(actor, action, subject);
  if (allowed instanceof ApiError) throw allowed;
  return allowed;
}

type If<A extends Action, Name extends Answer, Then> = Name extends AnswerOf<A> ? Then : unknown;

/** What an action can't be without. */
type Known<A extends Action> = If<A, 'unknown publisher', { publisher: PublisherRecord }> &
  If<A, 'unknown node', { node: NodeRecord }> &
  If<A, 'unknown version', { version: NodeVersionRecord }> &
  If<A, 'invalid credential', { credential: AcceptedCredential }>;

function wrongFields(who: readonly Who[], fields: readonly string[]): ApiError {
  const [code, message] = who.includes('operator')
    ? (['invalid_request', banMessage] as const)
    : (['forbidden', 'can be changed only by an admin'] as const);
  return new ApiError(code, { details: fields.map((path) => ({ path, message })) });
}

/** A ban also blocks downloads, version by version, and leaves a history: only the administration does all of that. */
const banMessage =
  'cannot set or lift a ban; the operator does that with "npm run admin -- node ban" or "unban"';
