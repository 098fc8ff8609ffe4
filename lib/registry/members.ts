import { memberIdOf } from '../caller.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { type Item, onRevision, present, withChanges } from '../store/items.ts';
import { deleting, updating } from '../store/write.ts';
import { changeOf, type Outcome } from './changes.ts';
import { may } from './may.ts';
import { listing, memberOf, unlisting } from './publishers.ts';
import {
  type Changed,
  type Actor,
  type CredentialRecord,
  invitationRecord,
  type Member,
  type MemberChanges,
  type PublisherRecord,
  type TokenRecord,
  tokenRecord,
  type TrustRecord,
  trustRecord,
} from './records.ts';
import { counting, credentialsIn, ending, isCounting, isUsable } from './tokens.ts';
import { isTrusted } from './trusts.ts';

/* Members of a publisher. */

interface Force {
  /** Whether a publisher may be left without an owner. */
  force?: boolean | undefined;
}

/** Adds a member, by default with the role `member`, or changes the data of one. */
export function putMember(
  context: Context,
  by: Actor,
  publisherId: string,
  userId: string,
  changed: MemberChanges,
  { force }: Force = {},
): Promise<Changed<PublisherRecord>> {
  const action = 'change member';
  return changeOf(context, by, { publisherId, action }, (publisher) => {
    const known = memberOf(publisher, userId);
    const member = withChanges<Member>(known ?? { role: 'member' }, changed);
    if (member.role !== 'owner' && !force) may(by, action, { publisher, leaving: userId });
    const changes = { members: { ...publisher.members, [userId]: member } };
    return {
      change: { of: publisher, action: 'member add', subject: userId, detail: changed.role },
      writes: [updating(publisher, changes, onRevision(publisher)), listing(userId, publisher.id)],
      result: withChanges(publisher, changes),
    };
  });
}

/** Credentials of a publisher that work. */
export interface Credentials {
  tokens: TokenRecord[];
  trusts: TrustRecord[];
}

interface Removed {
  publisher: PublisherRecord;
  /** What the member had made. */
  ended: Credentials;
  /** What others had made, and a member may know. */
  remaining: Credentials;
}

/** A transaction has at most 100 writes. */
const maxEnded = 90;

/** Removes a member, with all that the member made: tokens, trusts and invitations end in the same transaction. */
export async function removeMember(
  context: Context,
  by: Actor,
  publisherId: string,
  userId: string,
  options: Force & { of?: { action: string; subject: string }; ended?: Credentials } = {},
): Promise<Changed<Removed>> {
  const { force, of = { action: 'member remove', subject: userId } } = options;
  const action = 'userId' in by && by.userId === userId ? 'leave publisher' : 'change member';
  const about = { publisherId, action, reads: credentialsIn } as const;
  type Result = Removed | Pick<Removed, 'ended'>;
  const made = await changeOf(context, by, about, (publisher, found, { now }, before): Outcome<Result> => {
    if (!memberOf(publisher, userId)) {
      const message = `The publisher "${publisher.id}" has no member "${userId}".`;
      throw new ApiError('not_found', { message });
    }
    if (!force) may(by, action, { publisher, leaving: userId });
    const { [userId]: _, ...members } = publisher.members;
    const made_by = memberIdOf(userId);
    const isOwn = (record: { made_by?: string }) => record.made_by === made_by;
    const tokens = found.tokens.map(tokenRecord).filter(isCounting);
    const trusts = found.trusts.map(trustRecord).filter(isTrusted);
    const credentials: CredentialRecord[] = [...tokens, ...trusts];
    const invitations = found.invitations.map((item: Item) => invitationRecord(item)).filter(isOwn);
    const change = { of: publisher, ...of };
    const ends = [
      ...credentials.filter(isOwn).map((each) => ending(each, now)),
      ...invitations.map((each) => deleting(each, present)),
    ];
    // Of several rounds, the first has seen all of it.
    const { ended = { tokens: tokens.filter(isOwn), trusts: trusts.filter(isOwn) } } = options;
    // A merge adds up what the member made in both, and what ended lately counts as well.
    if (ends.length > maxEnded) {
      const writes = ends.slice(0, maxEnded);
      return { change: { ...change, detail: 'in part' }, writes, result: { ended } };
    }
    return {
      change,
      writes: [
        updating(publisher, { members }, onRevision(publisher)),
        unlisting(userId, publisher.id),
        counting(publisher.id, before),
        ...ends,
      ],
      result: {
        publisher: withChanges(publisher, { members }),
        ended,
        remaining: {
          tokens: tokens.filter((each) => !isOwn(each) && isUsable(each)),
          trusts: trusts.filter((each) => !isOwn(each)),
        },
      },
    };
  });
  const { result, changed } = made;
  if ('publisher' in result) return { result, changed };
  return removeMember(context, by, publisherId, userId, { ...options, ...result });
}
