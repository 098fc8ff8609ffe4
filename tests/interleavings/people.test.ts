import { zip } from '@node-registry/testing/zip';
import { memberIdOf } from '../../lib/caller.ts';
import {
  nodeVersionRecord,
  pending,
  type PublisherRecord,
  publisherRecord,
} from '../../lib/registry/records.ts';
import type { Item } from '../../lib/store/items.ts';
import { publish } from '../support/publish.ts';
import { personKey } from '../../lib/store/keys.ts';
import { addPublisher, addToken } from '../support/registry.ts';
import { put, uploadAt } from '../support/uploads.ts';
import { describeInterleavings } from './cases.ts';
import { endsWithMembership } from './invariants.ts';
import { ask, endpoint, finalize, type Work } from './works.ts';
import { makeWorld, readItems, worldOf } from './worlds.ts';

const archive = zip([{ name: '__init__.py', data: 'NODE_CLASS_MAPPINGS = {}\n' }]);

const ofPublisher = '/publishers/{publisherId}';
const path = { publisherId: 'acme' };
const member = (user: string) => ({ ...path, memberId: memberIdOf(user) });

/** Two owners, a member whose token waits for an upload, an open invitation, and a person with four publishers. */
const begun = () =>
  makeWorld(async () => {
    await addPublisher('acme', { olga: 'owner', otto: 'owner', mats: 'member' });
    for (const id of ['n1', 'n2', 'n3', 'n4']) await ask('POST /publishers', 'nina', {}, { id, name: id });
    const invited = await ask(`POST ${ofPublisher}/invitations`, 'olga', path);
    const trusted = await ask(`POST ${ofPublisher}/trusts`, 'olga', path, trust);
    // Of the publisher, not of a member.
    const others = await addToken('acme');
    const { token } = (await ask(`POST ${ofPublisher}/tokens`, 'mats', path, { name: 'own' })).body;
    const published = await publish({ nodeId: 'pack', token });
    const upload = uploadAt(published.body.signedUrl);
    await put(upload, archive);
    return {
      others,
      invitation: invited.body.invitation,
      invitationId: invited.body.id,
      trustId: trusted.body.id,
      upload: JSON.stringify(upload),
      versionId: upload.versionId,
    };
  });

const trust = { issuer: 'https://ci.example.com', repository: 'octo/nodes', workflow: 'release.yml' };

const known = (name: string) => String(worldOf().known[name]);

/** What one person does. */
const act = (
  routeKey: string,
  user: string,
  made: () => { path?: object; body?: object } = () => ({}),
): Work => ({
  ...endpoint(() => ask(routeKey, user, { ...path, ...made().path }, made().body)),
  isRare: true,
});

const works: Record<string, Work> = {
  'fifth publisher': act('POST /publishers', 'nina', () => ({ body: { id: 'n5', name: 'Five' } })),
  'another fifth': act('POST /publishers', 'nina', () => ({ body: { id: 'n6', name: 'Six' } })),
  invitation: act(`POST ${ofPublisher}/invitations`, 'olga'),
  acceptance: act('POST /invitations/accept', 'pia', () => ({ body: { invitation: known('invitation') } })),
  'another acceptance': act('POST /invitations/accept', 'quin', () => ({
    body: { invitation: known('invitation') },
  })),
  'withdrawal of an invitation': act(`DELETE ${ofPublisher}/invitations/{invitationId}`, 'otto', () => ({
    path: { invitationId: known('invitationId') },
  })),
  trust: act(`POST ${ofPublisher}/trusts`, 'olga', () => ({ body: { ...trust, workflow: 'other.yml' } })),
  'end of a trust': act(`DELETE ${ofPublisher}/trusts/{trustId}`, 'otto', () => ({
    path: { trustId: known('trustId') },
  })),
  token: act(`POST ${ofPublisher}/tokens`, 'olga', () => ({ body: { name: 'laptop' } })),
  'departure of an owner': act(`DELETE ${ofPublisher}/members/{memberId}`, 'olga', () => ({
    path: member('olga'),
  })),
  'demotion of the other': act(`PUT ${ofPublisher}/members/{memberId}`, 'otto', () => ({
    path: member('otto'),
    body: { role: 'member' },
  })),
  'removal of a member': act(`DELETE ${ofPublisher}/members/{memberId}`, 'otto', () => ({
    path: member('mats'),
  })),
  publish: {
    ...endpoint(() => publish({ nodeId: 'pack', version: '2.0.0', token: known('others') })),
    isRare: true,
  },
  'upload event': { by: 'service', isRare: true, run: (id) => finalize(id, JSON.parse(known('upload'))) },
  'drop of a version': act(`DELETE ${ofPublisher}/nodes/{nodeId}/versions/{versionId}`, 'otto', () => ({
    path: { nodeId: 'pack', versionId: known('versionId') },
  })),
};

const versionsIn = (items: readonly Item[]) =>
  items.filter(({ sk }) => String(sk).startsWith('VERSION#')).map(nodeVersionRecord);

const ninas = personKey(memberIdOf('nina'));

async function problems(): Promise<string[]> {
  const before = await readItems();
  const ended = before.flatMap(({ id, revoked_at }) => (revoked_at === undefined ? [] : id));
  const waiting = versionsIn(before).filter(({ status }) => status === pending);
  // Each archive comes in the end.
  for (const { node_id: nodeId, version, id: versionId, upload_id: uploadId = '' } of waiting) {
    const upload = { nodeId, version, versionId, uploadId };
    await put(upload, archive);
    await finalize('settled', upload);
  }
  const items = await readItems();
  const publishers = items.filter(({ sk }) => sk === 'PUBLISHER').map(publisherRecord);
  const made = publishers.filter(({ new_nodes_per_day }) => new_nodes_per_day !== undefined);
  const { publishers: count } = items.find((item) => item.pk === ninas.pk && item.sk === ninas.sk) ?? {};
  const acts = (action: string) => items.filter((item) => item.action === action);
  const left = acts('member remove').filter(({ subject }) => subject === 'olga');
  const listed = items.filter(({ pk, sk }) => /^PERSON#/.test(`${pk}`) && /^PUBLISHER#/.test(`${sk}`));
  const members = publishers.flatMap(({ pk, members: all }) =>
    Object.keys(all).map((user) => `PERSON#${memberIdOf(user)} ${pk}`),
  );
  const isGone = acts('member remove').some(({ subject }) => subject === 'mats');
  const stays = waiting.filter(
    (each) => ended.includes(each.token_id) || (isGone && each.published_by === 'mats'),
  );
  const after = versionsIn(items);
  const broken = {
    'a person makes five publishers at most': made.length > 5 || count !== made.length,
    'a publisher has an owner': publishers.some((each) => !hasOwner(each)),
    'an invitation is used once': acts('invitation accept').length > 1,
    'an invitation that is used or withdrawn is gone, and that of who left':
      items.some(({ id }) => id === known('invitationId')) ===
      [...acts('invitation accept'), ...acts('invitation withdraw'), ...left].length > 0,
    'each membership is listed':
      String(listed.map(({ pk, sk }) => `${pk} ${sk}`).sort()) !== String(members.sort()),
    'what waits stays when its token ends, or who published it leaves': stays.some(
      ({ id }) => after.find((each) => each.id === id)?.status !== pending,
    ),
    'what waits for another becomes active': waiting.some(
      (each) => !stays.includes(each) && after.some(({ id, status }) => id === each.id && status === pending),
    ),
    [`ends with the membership: ${endsWithMembership(items, publishers)}`]:
      endsWithMembership(items, publishers).length > 0,
  };
  return Object.entries(broken).flatMap(([sentence, isBroken]) => (isBroken ? [sentence] : []));
}

function hasOwner({ members }: PublisherRecord): boolean {
  return Object.values(members).some(({ role }) => role === 'owner');
}

const both = (one: string, other: string) => [`${one} | ${other}`, `${other} | ${one}`];

describeInterleavings({
  works,
  worldAfter: begun,
  problems,
  pairs: [
    ...['fifth publisher', 'acceptance', 'departure of an owner', 'removal of a member', 'invitation'].map(
      (each) => `${each} | ${each}`,
    ),
    ...both('fifth publisher', 'another fifth'),
    ...both('acceptance', 'another acceptance'),
    ...both('acceptance', 'withdrawal of an invitation'),
    ...both('departure of an owner', 'demotion of the other'),
    ...['invitation', 'acceptance', 'trust', 'token'].flatMap((each) => both('departure of an owner', each)),
    ...['publish', 'upload event', 'acceptance'].flatMap((each) => both('removal of a member', each)),
    ...both('upload event', 'drop of a version'),
  ],
});
