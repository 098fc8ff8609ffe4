import { aligning } from '../alignment.ts';
import { movePublisher } from '../../../lib/registry/moves.ts';
import { createPublisher, editPublisher } from '../../../lib/registry/profiles.ts';
import { bySize, describePublisher, listPublishers, sized } from '../listing.ts';
import { banNotes } from './nodes.ts';
import { publisherView } from '../../../lib/registry/publishers.ts';
import { type PublisherRecord, publisherRecord } from '../../../lib/registry/records.ts';
import { publisherKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { newContext, readPublisher } from '../registry/administration.ts';
import { PublisherId } from '@node-registry/registry-rules/names';
import { profileFields, PublisherName } from '@node-registry/registry-rules/schemas/self-service';
import * as z from 'zod/mini';
import { command, fieldsIn, optionsOf, UsageError } from '../command.ts';
import { fields, table } from '@node-registry/command-line/table';
import { setPublisherBan } from '../../../lib/registry/bans.ts';

const profile = { name: PublisherName, ...profileFields };

export const create = command({
  parameters: ['publisher'],
  summary: 'Create a publisher without members',
  notes:
    'The id is 1 to 100 letters, digits, ".", "_" or "-". Case does not matter, and no other publisher may have the id in another spelling.',
  options: {
    name: { value: 'TEXT', about: 'The display name', required: true },
  },
  examples: ['publisher create acme --name "Acme Nodes"'],
  async run({ publisher: id }, { name }, { actor, suggest }) {
    requirePublisherId(id);
    const publisher = await createPublisher(newContext(), actor, { id, name });
    const next = `Give it an owner next: ${suggest(`member add ${id} <user> --role owner`)}`;
    return { data: publisherData(publisher), text: `Created the publisher "${id}".\n${next}` };
  },
});

export const update = command({
  parameters: ['publisher'],
  summary: 'Change the profile of a publisher',
  options: {
    ...optionsOf(profile),
    clear: { value: 'FIELDS', about: 'Fields to clear, separated by commas' },
  },
  tellsOwners: true,
  examples: ['publisher update acme --logo https://acme.example/logo.svg --clear support,website'],
  async run({ publisher: id }, { clear = '', ...options }, { actor }) {
    const cleared = clear.split(',').flatMap((name) => name.trim().replaceAll('-', '_') || []);
    const wrong = cleared.find((field) => !(field in profileFields));
    if (wrong) throw new UsageError(`"${wrong}" can't be cleared.`);
    const fields = {
      ...fieldsIn(z.partial(z.object(profile)), options),
      ...Object.fromEntries(cleared.map((field) => [field, null])),
    };
    const { result, changed } = await editPublisher(newContext(), actor, id, fields);
    const text = changed ? publisherText(result) : `Nothing changed: "${id}" says this already.`;
    return { data: publisherData(result), text };
  },
});

const movedNotes =
  'Its nodes, members, tokens and trusts move with it, and pending uploads continue. The old ID stays reserved; for 90 days the\nAPI accepts it for the new one. Until its nodes have followed,\na request for one gets a 403.\nRename it back to undo a rename.';

/** A command that died may be repeated. */
async function describeMoving(id: string): Promise<string> {
  const [item] = await get(newContext(), publisherKey(id));
  const isMoved = publisherRecord(item)?.moved_to !== undefined;
  return isMoved ? `what is left of the publisher "${id}"` : describePublisher(id);
}

export const rename = command({
  parameters: ['publisher', 'new-id'],
  summary: 'Give a publisher another ID',
  notes: movedNotes,
  tellsOwners: true,
  examples: ['publisher rename acme acme-nodes'],
  impact: async ({ publisher, 'new-id': to }) => `renames ${await describeMoving(publisher)} to "${to}"`,
  async run({ publisher: from, 'new-id': to }, _, { actor }) {
    requirePublisherId(to);
    await movePublisher(newContext(), actor, 'rename', from, to);
    return aligning({ publisher: from, nodesOf: to }, async () => ({
      data: publisherData(await readPublisher(to)),
      text: `The publisher "${from}" is "${to}" now.`,
    }));
  },
});

export const merge = command({
  parameters: ['publisher'],
  summary: 'Merge a publisher into another one',
  notes: movedNotes,
  options: { into: { value: 'PUBLISHER', about: 'The publisher that stays', required: true } },
  tellsOwners: true,
  examples: ['publisher merge acme-labs --into acme'],
  impact: async ({ publisher }, { into }) =>
    `makes ${await describeMoving(publisher)} part of ${await describePublisher(into)}, which cannot be undone`,
  async run({ publisher: from }, { into }, { actor }) {
    await movePublisher(newContext(), actor, 'merge', from, into);
    return aligning({ publisher: from, nodesOf: into }, async () => ({
      data: publisherData(await readPublisher(into)),
      text: `The publisher "${from}" is part of "${into}" now.`,
    }));
  },
});

export const list = command({
  parameters: [],
  summary: 'List all publishers',
  readsOnly: true,
  notes:
    'Reads the whole table, because no index lists publishers: with a large table this takes time and read capacity.',
  options: bySize,
  examples: ['publisher list', 'publisher list --by-size'],
  async run(_, { 'by-size': isBySize }) {
    const publishers = await sized(await listPublishers(), 'publisher_id', isBySize);
    const rows = publishers.map(({ id, name, members, banned, createdAt, archive_bytes }) => [
      ...[id, name, Object.keys(members).length, banned ? 'yes' : 'no', createdAt, archive_bytes],
    ]);
    const headings = ['PUBLISHER', 'NAME', 'MEMBERS', 'BANNED', 'CREATED', ...(isBySize ? ['BYTES'] : [])];
    const text = table(headings, rows, { alignRight: [2, 5], none: 'No publishers.' });
    return {
      data: publishers.map((each) => ({ ...publisherData(each), archive_bytes: each.archive_bytes })),
      text,
    };
  },
});

export const show = command({
  parameters: ['publisher'],
  summary: 'Show a publisher and its members',
  readsOnly: true,
  examples: ['publisher show acme', 'publisher show acme --json'],
  async run({ publisher: id }) {
    const publisher = await readPublisher(id);
    return { data: publisherData(publisher), text: publisherText(publisher) };
  },
});

export const ban = command({
  parameters: ['publisher'],
  summary: 'Stop a publisher: no updates, no new versions, no downloads',
  notes: `${banNotes} Tokens are kept and\nwork again after an unban.`,
  options: {
    reason: { value: 'TEXT', about: 'The reason, which only administrators see', required: true },
  },
  tellsOwners: true,
  examples: ['publisher ban acme --reason "Account taken over, case 812"'],
  impact: async ({ publisher }) => `bans ${await describePublisher(publisher)}`,
  async run({ publisher: id }, { reason }, { actor }) {
    const { result, changed } = await setPublisherBan(newContext(), actor, id, reason);
    const text = changed
      ? `Banned the publisher "${id}".`
      : `The publisher "${id}" was already banned for this reason: nothing changed.`;
    return aligning({ publisher: id, nodesOf: id }, async () => ({ data: publisherData(result), text }));
  },
});

export const unban = command({
  parameters: ['publisher'],
  summary: 'Let a banned publisher publish and edit again',
  tellsOwners: true,
  examples: ['publisher unban acme'],
  async run({ publisher: id }, _, { actor }) {
    const { result, changed } = await setPublisherBan(newContext(), actor, id, undefined);
    const text = changed
      ? `Unbanned the publisher "${id}".`
      : `The publisher "${id}" was not banned: nothing changed.`;
    return aligning({ publisher: id, nodesOf: id }, async () => ({ data: publisherData(result), text }));
  },
});

function requirePublisherId(id: string): void {
  const { error } = PublisherId.safeParse(id);
  if (error) throw new UsageError(`The publisher id ${error.issues[0]?.message}.`);
}

/** A publisher as --json prints it: the API's view, with the fields that only admins see. */
export function publisherData(publisher: PublisherRecord) {
  const { banned = false, ban_reason } = publisher;
  return { ...publisherView(publisher), banned, ban_reason };
}

export function publisherText(publisher: PublisherRecord): string {
  const { id, banned, ban_reason, members, name, description, website, createdAt } = publisher;
  const { logo, support, source_code_repo } = publisher;
  const about = fields({
    Publisher: id,
    Name: name,
    Description: description,
    Website: website,
    Logo: logo,
    Support: support,
    Source: source_code_repo,
    Created: createdAt,
    Banned: banned ? (ban_reason ?? 'yes') : 'no',
  });
  return `${about}\n\n${memberTable(members)}`;
}

export function memberTable(members: PublisherRecord['members']): string {
  // DynamoDB keeps no order in a map.
  const sorted = Object.entries(members).sort(([a], [b]) => a.localeCompare(b, 'en'));
  const rows = sorted.map(([user, { role, name, email }]) => [user, role, name, email]);
  return table(['USER', 'ROLE', 'NAME', 'EMAIL'], rows, { none: 'No members.' });
}
