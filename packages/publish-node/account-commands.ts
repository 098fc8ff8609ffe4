import { table } from '@node-registry/command-line/table';
import { issuerNamed } from '@node-registry/registry-rules/ci-issuers';
import type { RegistryClient, Reply } from '@node-registry/registry-client';
import { Failure } from './failure.ts';
import { connectAsOwner, type OwnerFlags } from './identity.ts';
import { explainAccount } from './login-commands.ts';
import { type Ending, say } from './output.ts';
import { readPyProject } from './pyproject.ts';

/* What a person does for a publisher: its profile, tokens, members and trusted CI jobs. */

export interface AccountFlags extends OwnerFlags {
  publisher?: string | undefined;
  name?: string | undefined;
  description?: string | undefined;
  website?: string | undefined;
  support?: string | undefined;
  sourceCodeRepo?: string | undefined;
  logo?: string | undefined;
  node?: string | undefined;
  days?: number | undefined;
  role?: 'owner' | 'member' | undefined;
  user?: string | undefined;
  email?: string | undefined;
  workflow?: string | undefined;
  jobWorkflow?: string | undefined;
  environment?: string | undefined;
  ref?: string | undefined;
  event?: string | undefined;
  issuer?: string | undefined;
}

type Ask = RegistryClient['account'];
type Verb = (ask: Ask, publisherId: string, flags: AccountFlags, named: string) => Promise<Ending>;

const daySeconds = 24 * 60 * 60;

/** Runs a verb as the person who is signed in, for the publisher that the flags or the folder name. */
export async function onPublisher(verb: Verb, flags: AccountFlags, named = ''): Promise<Ending> {
  const { publisher = (await readPyProject('.')).metadata.publisher } = flags;
  if (publisher === undefined)
    throw new Failure('usage', 'Name the publisher: --publisher ID, or start it in the folder of a node.');
  const { registry, hint } = connectAsOwner(flags);
  const ask: Ask = (name, input, options) =>
    registry.account(name, input, options).catch(explainAccount(hint));
  const { report, lines } = await verb(ask, publisher, flags, named);
  return { report: { publisher, ...report }, lines };
}

export const createPublisher: Verb = async (ask, id, { name = id, ...flags }) => {
  await ask('createPublisher', { body: { id, name, ...profileIn(flags) } });
  return {
    report: { status: 'created' },
    lines: [`${id} is a publisher, and you are its owner. Its id is never free again.`],
  };
};

export const editPublisher: Verb = async (ask, publisherId, { name, ...flags }) => {
  const body = { ...(name !== undefined && { name }), ...profileIn(flags) };
  if (Object.keys(body).length === 0)
    throw new Failure('usage', 'Name what to change as an option, such as --description.');
  await ask('updatePublisher', { path: { publisherId }, body });
  return { report: { status: 'edited' }, lines: [`${publisherId} has these fields as named here.`] };
};

function profileIn({ description, website, support, sourceCodeRepo, logo }: AccountFlags) {
  const fields = { description, website, support, source_code_repo: sourceCodeRepo, logo };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export const createToken: Verb = async (ask, publisherId, { node, days = 90 }, name) => {
  const body = { name, ...(node && { node_id: node }), expires_in: Math.round(days * daySeconds) };
  const { token, ...made } = await ask('createPersonalAccessToken', { path: { publisherId }, body });
  say(`The token "${name}" works until ${made.expires_at.slice(0, 16)}. It is not shown again.`);
  return { report: { status: 'created', token, tokens: [made] }, lines: [token] };
};

export const listTokens: Verb = async (ask, publisherId) => {
  const tokens = await ask('listPersonalAccessTokens', { path: { publisherId } });
  const rows = tokens.map(({ id, name, node_id, expires_at, last_used_at }) => [
    ...[id, name, node_id, expires_at.slice(0, 16), last_used_at?.slice(0, 16)],
  ]);
  const none = `${publisherId} has no tokens that you may see.`;
  return listed({ tokens }, ['ID', 'NAME', 'NODE', 'UNTIL', 'LAST USED'], rows, none);
};

function listed(found: object, headings: string[], rows: Parameters<typeof table>[1], none: string): Ending {
  return { report: { status: 'listed', ...found }, lines: table(headings, rows, { none }).split('\n') };
}

export const listPending: Verb = async (ask, publisherId, _, nodeId) => {
  const versions = await ask('listNodeVersions', {
    path: { publisherId, nodeId },
    query: { statuses: 'NodeVersionStatusPending' },
  });
  const rows = versions.map(({ version, createdAt, status_reason }) => [
    ...[version, createdAt?.slice(0, 16), status_reason],
  ]);
  const headings = ['VERSION', 'CREATED', 'WAITS FOR'];
  const none = `${nodeId} has nothing pending.`;
  const { report, lines } = listed({ node: nodeId, versions }, headings, rows, none);
  const drop = `To drop one, so that its label is free again: withdraw ${nodeId}@VERSION`;
  return { report, lines: versions.length > 0 ? [...lines, drop] : lines };
};

/** By its id or, if there is one such token, its name. */
async function tokenNamed(ask: Ask, publisherId: string, named: string) {
  const tokens = await ask('listPersonalAccessTokens', { path: { publisherId } });
  return only(tokens, ({ id, name }) => [id, name].includes(named), `token "${named}"`, publisherId);
}

function only<Each>(
  all: readonly Each[],
  isMeant: (each: Each) => boolean,
  what: string,
  publisherId: string,
): Each {
  const found = all.filter(isMeant);
  const [first, ...others] = found;
  if (first === undefined)
    throw new Failure('rejected', `${publisherId} has no ${what}.`, { code: 'not_found' });
  if (others.length > 0)
    throw new Failure('usage', `${publisherId} has ${found.length} of ${what}. Name one by its id.`);
  return first;
}

export const revokeToken: Verb = async (ask, publisherId, _, named) => {
  const { id, name } = await tokenNamed(ask, publisherId, named);
  await ask('deletePersonalAccessToken', { path: { publisherId, tokenId: id } });
  return { report: { status: 'revoked' }, lines: [`The token "${name}" is revoked.`] };
};

/** The new one first: a job that publishes meanwhile has one of the two. */
export const rotateToken: Verb = async (ask, publisherId, flags, named) => {
  const { id, name, node_id: node } = await tokenNamed(ask, publisherId, named);
  const { report, lines } = await createToken(ask, publisherId, { ...flags, node }, name);
  await ask('deletePersonalAccessToken', { path: { publisherId, tokenId: id } });
  say('The old one is revoked.');
  return { report: { ...report, status: 'rotated' }, lines };
};

export const inviteMember: Verb = async (ask, publisherId, { role = 'member', user, email }) => {
  const body = { role, ...(user && { user_id: user }), ...(email && { email }) };
  const made = await ask('createInvitation', { path: { publisherId }, body });
  const { invitation, link, ...shown } = made;
  say(`Send it to the person. It works once, until ${made.expires_at.slice(0, 10)}.`);
  return {
    report: { status: 'invited', invitation, invitations: [{ ...shown, link }] },
    lines: [link ?? `publish-node member accept ${invitation}`],
  };
};

export const listMembers: Verb = async (ask, publisherId) => {
  const path = { publisherId };
  const members = await ask('listMembers', { path });
  const isOwner = (await ask('getPermissionOnPublisher', { path })).canEdit;
  const invitations = isOwner ? await ask('listInvitations', { path }) : [];
  const rows = [
    ...members.map(({ id, role, user }) => [id, role, user.name ?? user.id, user.email]),
    ...invitations.map(({ id, role, email, user_id }) => [id, `invited ${role}`, user_id, email]),
  ];
  const none = `${publisherId} has no members.`;
  return listed({ members, invitations }, ['ID', 'ROLE', 'NAME', 'E-MAIL'], rows, none);
};

/** A member, or an invitation that is still open. */
export const removeMember: Verb = async (ask, publisherId, _, named) => {
  const path = { publisherId };
  const members = await ask('listMembers', { path });
  const isMeant = ({ id, user }: (typeof members)[number]) => [id, user.id, user.email].includes(named);
  if (!members.some(isMeant)) {
    const invitations = await ask('listInvitations', { path });
    const what = `member or invitation "${named}"`;
    const { id } = only(invitations, ({ id, email }) => [id, email].includes(named), what, publisherId);
    await ask('deleteInvitation', { path: { ...path, invitationId: id } });
    return { report: { status: 'removed' }, lines: ['The invitation is withdrawn.'] };
  }
  const { id, user } = only(members, isMeant, `member "${named}"`, publisherId);
  const { ended, remaining } = await ask('removeMember', { path: { ...path, memberId: id } });
  const names = [...remaining.tokens.map(({ name }) => name), ...remaining.trusts.map(trustName)];
  return {
    report: { status: 'removed', tokens: remaining.tokens, trusts: remaining.trusts },
    lines: [
      `${user.name ?? user.id ?? id} is no member of ${publisherId}. Ended with that: ${ended.tokens.length} tokens, ${ended.trusts.length} trusts.`,
      ...(names.length > 0 ? [`Still working, and perhaps known to them: ${names.join(', ')}`] : []),
    ],
  };
};

export async function acceptInvitation(flags: AccountFlags, text: string): Promise<Ending> {
  const { registry, hint } = connectAsOwner(flags);
  // A link has the secret behind its "#", percent-encoded.
  const invitation = new URLSearchParams(text.slice(text.lastIndexOf('#') + 1)).get('invitation') ?? text;
  const body = { invitation, ...(flags.name && { name: flags.name }) };
  const { id } = await registry.account('acceptInvitation', { body }).catch(explainAccount(hint));
  return { report: { status: 'added', publisher: id }, lines: [`You are a member of ${id}.`] };
}

export const addTrust: Verb = async (ask, publisherId, flags, repository) => {
  const { workflow = 'release.yml', issuer = 'github', jobWorkflow, environment, ref, event, node } = flags;
  const optional = { job_workflow: jobWorkflow, environment, ref, event, node_id: node };
  const named = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  const body = { issuer: issuerNamed(issuer), repository, workflow, ...named };
  const trust = await ask('createTrust', { path: { publisherId }, body });
  const notes = ref === undefined ? [anyBranch] : [];
  return {
    report: { status: 'added', trusts: [trust], notes },
    lines: [`${trustName(trust)} publishes for ${publisherId}, without a stored secret.`, ...notes],
  };
};

const anyBranch =
  'Anyone who can push a branch with a changed workflow can publish. To allow only tags: --ref "refs/tags/v*"';

function trustName({ repository, workflow, ref }: Reply<'createTrust'>): string {
  return `${repository} ${workflow}${ref === undefined ? '' : ` at ${ref}`}`;
}

export const listTrusts: Verb = async (ask, publisherId) => {
  const trusts = await ask('listTrusts', { path: { publisherId } });
  const rows = trusts.map((trust) => [trust.id, trustName(trust), trust.node_id, trust.last_used_at]);
  return listed({ trusts }, ['ID', 'JOB', 'NODE', 'LAST USED'], rows, `${publisherId} trusts no CI job.`);
};

export const removeTrust: Verb = async (ask, publisherId, _, named) => {
  const trusts = await ask('listTrusts', { path: { publisherId } });
  const isMeant = ({ id, repository }: (typeof trusts)[number]) => [id, repository].includes(named);
  const trust = only(trusts, isMeant, `trust in "${named}"`, publisherId);
  await ask('deleteTrust', { path: { publisherId, trustId: trust.id } });
  return { report: { status: 'removed' }, lines: [`${trustName(trust)} publishes no more.`] };
};
