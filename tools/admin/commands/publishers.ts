import { aligning } from '../alignment.ts';
import { movePublisher } from '../../../lib/registry/moves.ts';
import { createPublisher, editPublisher } from '../../../lib/registry/profiles.ts';
import { bySize, describePublisher, listPublishers, sized } from '../listing.ts';
import { banNotes, describeBan } from './nodes.ts';
import { publisherView } from '../../../lib/registry/publishers.ts';
import { type Operator, type PublisherRecord, publisherRecord } from '../../../lib/registry/records.ts';
import { publisherKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { newContext, readPublisher } from '../registry/administration.ts';
import { PublisherId } from '@node-registry/registry-rules/names';
import type { Publisher } from '@node-registry/registry-rules/schemas/publisher';
import { profileFields, PublisherName } from '@node-registry/registry-rules/schemas/self-service';
import * as z from 'zod/mini';
import { command, type CommandResult, fieldsIn, optionsOf, UsageError } from '../command.ts';
import { setPublisherBan } from '../../../lib/registry/bans.ts';
import { fieldsOf, tableOf } from '../view.ts';

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
    return moved(from, to, `The publisher "${from}" is "${to}" now.`);
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
    return moved(from, into, `The publisher "${from}" is part of "${into}" now.`);
  },
});

function moved(publisher: string, to: string, text: string): Promise<CommandResult> {
  const read = async () => ({ data: publisherData(await readPublisher(to)), text });
  return aligning({ publisher, nodesOf: to }, read);
}

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
    const data = publishers.map((each) => ({ ...publisherData(each), archive_bytes: each.archive_bytes }));
    const columns = ['id', 'name', 'members', 'banned', 'createdAt', ...(isBySize ? ['archive_bytes'] : [])];
    return { data, text: tableOf(data, 'No publishers.', columns) };
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
  run: ({ publisher }, { reason }, { actor }) => setBan(actor, publisher, reason),
});

export const unban = command({
  parameters: ['publisher'],
  summary: 'Let a banned publisher publish and edit again',
  tellsOwners: true,
  examples: ['publisher unban acme'],
  run: ({ publisher }, _, { actor }) => setBan(actor, publisher),
});

async function setBan(actor: Operator, id: string, reason?: string): Promise<CommandResult> {
  const { result, changed } = await setPublisherBan(newContext(), actor, id, reason);
  const text = describeBan(`publisher "${id}"`, reason, changed);
  return aligning({ publisher: id, nodesOf: id }, async () => ({ data: publisherData(result), text }));
}

function requirePublisherId(id: string): void {
  const { error } = PublisherId.safeParse(id);
  if (error) throw new UsageError(`The publisher id ${error.issues[0]?.message}.`);
}

/** A publisher as --json prints it: the API's view, with the fields that only admins see. */
export function publisherData(publisher: PublisherRecord) {
  const { banned = false, ban_reason } = publisher;
  return { id: publisher.id, ...publisherView(publisher), banned, ban_reason };
}

export function publisherText(publisher: PublisherRecord): string {
  const { members, ...about } = publisherData(publisher);
  return `${fieldsOf(about)}\n\n${memberTable(members)}`;
}

export function memberTable(members: Publisher['members'] = []): string {
  return tableOf(members, 'No members.', ['user.id', 'role', 'user.name', 'user.email']);
}
