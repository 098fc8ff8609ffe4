import { table } from '@node-registry/command-line/table';
import type { RegistryClient, Reply } from '@node-registry/registry-client';
import { issuerNamed } from '@node-registry/registry-rules/ci-issuers';
import {
  profileFields,
  PublisherName,
  trustFields,
} from '@node-registry/registry-rules/schemas/self-service';
import { connectWithTokens } from './connect.ts';
import { explain, Failure } from './failure.ts';
import { connectAsOwner, type OwnerFlags } from './identity.ts';
import { fieldsIn } from './options.ts';
import { type Ending, type Report, say } from './output.ts';
import { readPyProject } from './pyproject.ts';
import { readSession, removeSession, writeSession } from './session.ts';
import { findIssuer, signInByBrowser, signInByDevice } from './sign-in.ts';

/* Signing in, and what a person does for a publisher: its profile, tokens, members and trusted CI jobs. */

type Ask = RegistryClient['account'];

interface AccountFlags extends OwnerFlags {
  publisher?: string;
  device?: boolean;
  days: number;
  name?: string;
  node?: string | undefined;
  role?: 'owner' | 'member';
  user?: string;
  email?: string;
  workflow: string;
  issuer: string;
}

interface Call {
  ask: Ask;
  path: { publisherId: string };
  /** The argument. */
  named: string;
  flags: AccountFlags;
}
type Verb = (call: Call) => Promise<Ending>;
type Run = (named: string, flags: AccountFlags) => Promise<Ending>;

export const profile = { name: PublisherName, ...profileFields };
const { issuer: _, repository: __, workflow: ___, ...limits } = trustFields;
export const trustLimits = limits;
export const onlyNode = { node_id: trustFields.node_id };

const noSelfService = 'This registry has no self-service: its operator makes publishers and tokens.';

/** Most registries without self-service have no such route. */
export function explainAccount(hint: string): (error: unknown) => never {
  return (error) => {
    if (Object(error).code === 'route_not_found')
      throw new Failure('rejected', noSelfService, { code: 'route_not_found' });
    return explain({ unauthorized: hint, invalid_reply: noSelfService })(error);
  };
}

const asking =
  (registry: RegistryClient, hint: string): Ask =>
  (...call) =>
    registry.account(...call).catch(explainAccount(hint));

/** As the person who is signed in. */
function ofPerson(verb: Verb, publisherId = ''): Run {
  return (named, flags) => {
    const { registry, hint } = connectAsOwner(flags);
    return verb({ ask: asking(registry, hint), path: { publisherId }, named, flags });
  };
}

/** Also for the publisher that the flags or the folder name. */
function ofPublisher(verb: Verb): Run {
  return async (named, flags) => {
    const { publisher = (await readPyProject('.')).metadata.publisher } = flags;
    if (publisher === undefined)
      throw new Failure('usage', 'Name the publisher: --publisher ID, or start it in the folder of a node.');
    const { report, lines } = await ofPerson(verb, publisher)(named, flags);
    return { report: { publisher, ...report }, lines };
  };
}

function done(status: string, lines: readonly string[], found: Partial<Report> = {}): Ending {
  return { report: { status, ...found }, lines };
}

function listed(
  found: Partial<Report>,
  headings: string[],
  rows: Parameters<typeof table>[1],
  none: string,
): Ending {
  return done('listed', table(headings, rows, { none }).split('\n'), found);
}

/** Signs a person in at the registry's issuer and keeps the session in a file that only they can read. */
export async function login(_: string, flags: AccountFlags): Promise<Ending> {
  const { baseUrl } = flags;
  const settings = await asking(connectWithTokens(flags), '')('signInSettings', {});
  const issuer = await findIssuer(settings);
  const tokens = flags.device
    ? await signInByDevice(issuer, (address, code) =>
        say(`Open ${address} on any device, and compare the code: ${code}`),
      )
    : await signInByBrowser(issuer, settings.loopback_ports, (address) =>
        say('Open this address in your browser, and sign in:', address),
      );
  const ask = asking(connectWithTokens(flags, tokens.accessToken), 'It came from the issuer.');
  const user = await ask('getUser', {});
  const output = writeSession({ baseUrl, issuer, tokens }, process.env);
  const { publishers, lines } = await publishersOf(ask);
  return done('signed_in', [`You are signed in as ${user.id}.`, ...lines], { user, publishers, output });
}

async function publishersOf(ask: Ask) {
  const publishers = await ask('listPublishersForUser', {});
  const names = publishers.map(({ id }) => id).join(', ');
  const none = 'You have no publisher yet. Make one: publish-node publisher create ID';
  return { publishers, lines: [names ? `Your publishers: ${names}` : none] };
}

export async function logout(_: string, { baseUrl }: OwnerFlags): Promise<Ending> {
  const wasSignedIn = readSession(baseUrl, process.env) !== undefined;
  removeSession(baseUrl, process.env);
  return done('signed_out', [
    wasSignedIn ? `You are signed out of ${baseUrl}.` : `Nobody was signed in at ${baseUrl}.`,
  ]);
}

/** Who is signed in, with their publishers and the tokens that they made. */
export const whoami = ofPerson(async ({ ask }) => {
  const user = await ask('getUser', {});
  const { publishers, lines } = await publishersOf(ask);
  const found = await Promise.all(
    publishers.map(({ id }) => ask('listPersonalAccessTokens', { path: { publisherId: String(id) } })),
  );
  const tokens = found.flat().filter(({ made_by }) => made_by === user.member_id);
  const shown = tokens.map(({ name, expires_at }) => `Token "${name}", until ${expires_at.slice(0, 10)}`);
  const about = [`You are ${user.email ?? user.id}.`, ...lines, ...shown];
  return done('signed_in', about, { user, publishers, tokens });
});

export const createPublisher = ofPerson(async ({ ask, named: id, flags }) => {
  await ask('createPublisher', { body: { id, name: id, ...fieldsIn(profile, flags) } });
  const line = `${id} is a publisher, and you are its owner. Its id is never free again.`;
  return done('created', [line], { publisher: id });
});

export const editPublisher = ofPublisher(async ({ ask, path, flags }) => {
  const body = fieldsIn(profile, flags);
  if (Object.keys(body).length === 0)
    throw new Failure('usage', 'Name what to change as an option, such as --description.');
  await ask('updatePublisher', { path, body });
  return done('edited', [`${path.publisherId} has these fields as named here.`]);
});

const makeToken: Verb = async ({ ask, path, flags, named: name }) => {
  const expires_in = Math.round(flags.days * 24 * 60 * 60);
  const body = { name, ...fieldsIn(onlyNode, flags), expires_in };
  const { token, ...made } = await ask('createPersonalAccessToken', { path, body });
  say(`The token "${name}" works until ${made.expires_at.slice(0, 16)}. It is not shown again.`);
  return done('created', [token], { token, tokens: [made] });
};
export const createToken = ofPublisher(makeToken);

export const listTokens = ofPublisher(async ({ ask, path }) => {
  const tokens = await ask('listPersonalAccessTokens', { path });
  const rows = tokens.map(({ id, name, node_id, expires_at, last_used_at }) => [
    ...[id, name, node_id, expires_at.slice(0, 16), last_used_at?.slice(0, 16)],
  ]);
  const none = `${path.publisherId} has no tokens that you may see.`;
  return listed({ tokens }, ['ID', 'NAME', 'NODE', 'UNTIL', 'LAST USED'], rows, none);
});

/** By its id or, if there is one such token, its name. */
async function tokenOf({ ask, path, named }: Call) {
  const tokens = await ask('listPersonalAccessTokens', { path });
  return only(path, tokens, ({ id, name }) => [id, name].includes(named), `token "${named}"`);
}

function only<Each>(
  { publisherId }: Call['path'],
  all: readonly Each[],
  isMeant: (each: Each) => boolean,
  what: string,
): Each {
  const found = all.filter(isMeant);
  const [first, ...others] = found;
  if (first === undefined)
    throw new Failure('rejected', `${publisherId} has no ${what}.`, { code: 'not_found' });
  if (others.length > 0)
    throw new Failure('usage', `${publisherId} has ${found.length} of ${what}. Name one by its id.`);
  return first;
}

export const revokeToken = ofPublisher(async (call) => {
  const { id, name } = await tokenOf(call);
  await call.ask('deletePersonalAccessToken', { path: { ...call.path, tokenId: id } });
  return done('revoked', [`The token "${name}" is revoked.`]);
});

/** The new one first: a job that publishes meanwhile has one of the two. */
export const rotateToken = ofPublisher(async (call) => {
  const { id, name, node_id: node } = await tokenOf(call);
  const { report, lines } = await makeToken({ ...call, named: name, flags: { ...call.flags, node } });
  await call.ask('deletePersonalAccessToken', { path: { ...call.path, tokenId: id } });
  say('The old one is revoked.');
  return { report: { ...report, status: 'rotated' }, lines };
});

export const listPending = ofPublisher(async ({ ask, path, named: node }) => {
  const query = { statuses: 'NodeVersionStatusPending' };
  const versions = await ask('listNodeVersions', { path: { ...path, nodeId: node }, query });
  const rows = versions.map(({ version, createdAt, status_reason }) => [
    ...[version, createdAt?.slice(0, 16), status_reason],
  ]);
  const headings = ['VERSION', 'CREATED', 'WAITS FOR'];
  const { report, lines } = listed({ node, versions }, headings, rows, `${node} has nothing pending.`);
  const drop = `To drop one, so that its label is free again: withdraw ${node}@VERSION`;
  return { report, lines: versions.length > 0 ? [...lines, drop] : lines };
});

export const inviteMember = ofPublisher(async ({ ask, path, flags: { role = 'member', user, email } }) => {
  const body = { role, ...(user && { user_id: user }), ...(email && { email }) };
  const { invitation, link, ...shown } = await ask('createInvitation', { path, body });
  say(`Send it to the person. It works once, until ${shown.expires_at.slice(0, 10)}.`);
  const line = link ?? `publish-node member accept ${invitation}`;
  return done('invited', [line], { invitation, invitations: [{ ...shown, link }] });
});

export const listMembers = ofPublisher(async ({ ask, path }) => {
  const members = await ask('listMembers', { path });
  const isOwner = (await ask('getPermissionOnPublisher', { path })).canEdit;
  const invitations = isOwner ? await ask('listInvitations', { path }) : [];
  const rows = [
    ...members.map(({ id, role, user }) => [id, role, user.name ?? user.id, user.email]),
    ...invitations.map(({ id, role, email, user_id }) => [id, `invited ${role}`, user_id, email]),
  ];
  const none = `${path.publisherId} has no members.`;
  return listed({ members, invitations }, ['ID', 'ROLE', 'NAME', 'E-MAIL'], rows, none);
});

/** A member, or an invitation that is still open. */
export const removeMember = ofPublisher(async ({ ask, path, named }) => {
  const members = await ask('listMembers', { path });
  const isMeant = ({ id, user }: (typeof members)[number]) => [id, user.id, user.email].includes(named);
  if (!members.some(isMeant)) {
    const invitations = await ask('listInvitations', { path });
    const what = `member or invitation "${named}"`;
    const { id } = only(path, invitations, ({ id, email }) => [id, email].includes(named), what);
    await ask('deleteInvitation', { path: { ...path, invitationId: id } });
    return done('removed', ['The invitation is withdrawn.']);
  }
  const { id, user } = only(path, members, isMeant, `member "${named}"`);
  const { ended, remaining } = await ask('removeMember', { path: { ...path, memberId: id } });
  const names = [...remaining.tokens.map(({ name }) => name), ...remaining.trusts.map(trustName)];
  const counts = [counted(ended.tokens, 'token'), counted(ended.trusts, 'trust')].filter(Boolean).join(', ');
  const lines = [
    `${user.name ?? user.id ?? id} is no member of ${path.publisherId}.${counts && ` Ended with that: ${counts}.`}`,
    ...(names.length > 0 ? [`Still working, and perhaps known to them: ${names.join(', ')}`] : []),
  ];
  return done('removed', lines, remaining);
});

function counted({ length }: readonly unknown[], one: string): string {
  return length === 0 ? '' : `${length} ${one}${length === 1 ? '' : 's'}`;
}

export const acceptInvitation = ofPerson(async ({ ask, named, flags: { name } }) => {
  // A link has the secret behind its "#", percent-encoded.
  const fragment = new URLSearchParams(named.slice(named.lastIndexOf('#') + 1));
  const body = { invitation: fragment.get('invitation') ?? named, ...(name && { name }) };
  const { id } = await ask('acceptInvitation', { body });
  return done('added', [`You are a member of ${id}.`], { publisher: id });
});

export const addTrust = ofPublisher(async ({ ask, path, named: repository, flags }) => {
  const named = { issuer: issuerNamed(flags.issuer), repository, workflow: flags.workflow };
  const trust = await ask('createTrust', { path, body: { ...named, ...fieldsIn(trustLimits, flags) } });
  const notes = trust.ref === undefined ? [anyBranch] : [];
  const line = `${trustName(trust)} publishes for ${path.publisherId}, without a stored secret.`;
  return done('added', [line, ...notes], { trusts: [trust], notes });
});

const anyBranch =
  'Anyone who can push a branch with a changed workflow can publish. To allow only tags: --ref "refs/tags/v*"';

function trustName({ repository, workflow, ref }: Reply<'createTrust'>): string {
  return `${repository} ${workflow}${ref === undefined ? '' : ` at ${ref}`}`;
}

export const listTrusts = ofPublisher(async ({ ask, path }) => {
  const trusts = await ask('listTrusts', { path });
  const rows = trusts.map((trust) => [trust.id, trustName(trust), trust.node_id, trust.last_used_at]);
  const none = `${path.publisherId} trusts no CI job.`;
  return listed({ trusts }, ['ID', 'JOB', 'NODE', 'LAST USED'], rows, none);
});

export const removeTrust = ofPublisher(async ({ ask, path, named }) => {
  const trusts = await ask('listTrusts', { path });
  const isMeant = ({ id, repository }: (typeof trusts)[number]) => [id, repository].includes(named);
  const trust = only(path, trusts, isMeant, `trust in "${named}"`);
  await ask('deleteTrust', { path: { ...path, trustId: trust.id } });
  return done('removed', [`${trustName(trust)} publishes no more.`]);
});
