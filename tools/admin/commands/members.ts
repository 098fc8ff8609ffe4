import * as z from 'zod/mini';
import { ApiError } from '../../../lib/errors.ts';
import { putMember, removeMember } from '../../../lib/registry/members.ts';
import { PublisherRole } from '@node-registry/registry-rules/schemas/publisher';
import { command, UsageError } from '../command.ts';
import { countOf } from '../listing.ts';
import { newContext, readPublisher } from '../registry/administration.ts';
import { publisherData, memberTable, publisherText } from './publishers.ts';
import { erasePerson, findPerson, type Person } from '../registry/erasure.ts';

const force = { about: 'Do it even if the publisher is left without an owner' };
const notes = 'The user is the subject (`sub`) of the access tokens that your issuer gives this person.';

export const list = command({
  parameters: ['publisher'],
  summary: 'List the members of a publisher',
  readsOnly: true,
  examples: ['member list acme'],
  async run({ publisher: publisherId }) {
    const { members } = publisherData(await readPublisher(publisherId));
    return { data: members, text: memberTable(members) };
  },
});

export const add = command({
  parameters: ['publisher', 'user'],
  summary: 'Add a member, or change the role, name or e-mail address of one',
  notes: `${notes}\nOwners edit and publish, members publish. Fields without an option keep their value.`,
  options: {
    role: { value: 'ROLE', about: 'owner or member; member is the default for a new one' },
    name: { value: 'TEXT', about: 'The name to show' },
    email: { value: 'ADDRESS', about: 'The e-mail address, shown to owners and admins only' },
    force,
  },
  tellsOwners: true,
  examples: [
    `member add acme 'auth0|1234' --role owner --name "Olga Owner" --email olga@acme.example`,
    `member add acme 'auth0|5678'`,
  ],
  async run({ publisher: publisherId, user }, { role, name, email, force }, { actor }) {
    const checked = z.optional(PublisherRole).safeParse(role);
    if (!checked.success) throw new UsageError(`The role "${role}" is not valid: use owner or member.`);
    if (email !== undefined && !z.email().safeParse(email).success)
      throw new UsageError(`"${email}" is not an e-mail address.`);
    const changes = { role: checked.data, name, email };
    const put = putMember(newContext(), actor, publisherId, user, changes, { force });
    const { result: publisher } = await put.catch(insisting);
    return { data: publisherData(publisher), text: publisherText(publisher) };
  },
});

export const remove = command({
  parameters: ['publisher', 'user'],
  summary: 'Remove a member from a publisher',
  notes: `${notes}\nTokens and trusts that the person made end. Others stay valid: revoke those that the person knows.`,
  options: { force },
  tellsOwners: true,
  examples: [`member remove acme 'auth0|5678'`],
  async run({ publisher: publisherId, user }, { force }, { actor }) {
    const removed = await removeMember(newContext(), actor, publisherId, user, { force }).catch(insisting);
    const { publisher } = removed.result;
    return { data: publisherData(publisher), text: publisherText(publisher) };
  },
});

function insisting(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'last_owner') throw error;
  throw error.with({ message: error.message.replace(/\.$/, ', or insist with --force.') });
}

export const erase = command({
  parameters: ['user'],
  summary: 'Erase a person from all members, histories and usage records, and keep the sums',
  notes:
    'USER is the claim of the access token that names users. Reads the whole table.\nusage shows what the person spent under a hash of the name. docs/spending.md lists what stays. If interrupted, run it again.',
  options: {
    force: { about: 'Also if the person is the last owner of a publisher' },
    'dry-run': { about: 'Only list what names the person' },
  },
  examples: [`person erase 'auth0|1234'`],
  async impact({ user }, options) {
    const found = describePerson(await findPerson(user));
    return options['dry-run']
      ? `lists ${found}`
      : `erases the person "${user}" from ${found}, which cannot be undone`;
  },
  async run({ user }, { force, ...options }, { actor }) {
    const person = await findPerson(user);
    const { publishers, lastOwnerOf, naming } = person;
    const found = publishers.length + naming.length;
    const data = { publishers: publishers.map(({ id }) => id), last_owner_of: lastOwnerOf, records: found };
    if (found === 0) return { data, text: `No record names "${user}": is the name right?` };
    if (options['dry-run']) return { data, text: `The person is named in ${describePerson(person)}.` };
    const records = await erasePerson(actor, user, person, { force });
    const ownerless = lastOwnerOf.length > 0 ? ` No owner is left: ${lastOwnerOf.join(', ')}.` : '';
    return { data, text: `The person was erased from ${countOf(records, 'record')}.${ownerless}` };
  },
});

function describePerson({ publishers, lastOwnerOf, naming }: Person): string {
  const ids = publishers.map(({ id }) => (lastOwnerOf.includes(id) ? `${id} (last owner)` : id));
  const members = ids.length > 0 ? `the members of ${ids.join(', ')} and ` : '';
  return members + countOf(naming.length, 'other record');
}
