import { positiveNumber } from '@node-registry/command-line/command';
import { table } from '@node-registry/command-line/table';
import type { RegistryClient, Reply } from '@node-registry/registry-client';
import { issuerNamed } from '@node-registry/registry-rules/ci-issuers';
import {
  profileFields,
  PublisherName,
  trustFields,
} from '@node-registry/registry-rules/schemas/self-service';
import { type Command, Option } from 'commander';
import { Failure } from './failure.ts';
import { connectAsOwner, type OwnerFlags } from './identity.ts';
import { explainAccount, loginCommand, logoutCommand, whoamiCommand } from './login-commands.ts';
import { fieldOptions, fieldsIn, ownerOptions } from './options.ts';
import { type Ending, type Mean, type Report, say } from './output.ts';
import { readPyProject } from './pyproject.ts';

/* Signing in, and what a person does for a publisher: its profile, tokens, members and trusted CI jobs. */

type Ask = RegistryClient['account'];

interface AccountFlags extends OwnerFlags {
  json?: boolean;
  publisher?: string;
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
type Act = (flags: { json?: boolean }, work: (mean: Mean) => Promise<Ending>) => Promise<void>;
type Add = (program: Command, about: { name: string; summary: string; notes?: string }) => Command;

const profile = { name: PublisherName, ...profileFields };
const { issuer: _, repository: __, workflow: ___, ...trustLimits } = trustFields;
const onlyNode = { node_id: trustFields.node_id };

export function addAccount(program: Command, act: Act, add: Add): void {
  const login = {
    name: 'login',
    summary: 'Sign in at the registry, so that no token must be stored',
    notes:
      'Shows an address to open in your browser here, or with --device a code for another one. publish then makes a token of its own and ends it.',
  };
  ownerOptions(add(program, login).option('--device', 'Show a code to type on another device')).action(
    (flags) => act(flags, () => loginCommand(flags)),
  );
  const logout = { name: 'logout', summary: 'Forget who is signed in at the registry' };
  ownerOptions(add(program, logout)).action((flags) => act(flags, () => logoutCommand(flags)));
  const whoami = { name: 'whoami', summary: 'Show who you are, your publishers and tokens' };
  ownerOptions(add(program, whoami)).action((flags) => act(flags, () => whoamiCommand(flags)));

  /** A command whose argument is a publisher to come, or an invitation to one, is of no publisher. */
  const verb = (of: Command, usage: string, summary: string, run: Verb, isOfNone = false) => {
    const [name = '', argument] = usage.split(' ');
    const command = ownerOptions(add(of, { name, summary }));
    if (!isOfNone) command.option('--publisher <id>', 'The publisher; default: from the pyproject.toml here');
    if (argument) command.argument(argument);
    return command.action((...given) => {
      const [named, flags] = argument ? given : ['', ...given];
      return act(flags, () => (isOfNone ? runFor('', run, flags, named) : onPublisher(run, flags, named)));
    });
  };
  const days = new Option('--days <number>', 'For how many days it works')
    .argParser(positiveNumber)
    .default(90);

  const publishers = add(program, { name: 'publisher', summary: 'Make or edit a publisher' });
  fieldOptions(
    verb(publishers, 'create <id>', 'Make a publisher, and be its owner', createPublisher, true),
    profile,
  );
  fieldOptions(verb(publishers, 'edit', 'Change what people see of it', editPublisher), profile);

  const tokens = add(program, { name: 'token', summary: 'Make, list and end personal access tokens' });
  fieldOptions(
    verb(tokens, 'create <name>', 'Make one, and print it once', createToken).addOption(days),
    onlyNode,
  );
  verb(tokens, 'list', 'List those that work', listTokens);
  verb(tokens, 'revoke <token>', 'End one, by its id or name', revokeToken);
  verb(tokens, 'rotate <token>', 'Make a new one like it, then end it', rotateToken).addOption(days);

  verb(program, 'pending <node>', 'List what a node of yours has begun and not published', listPending);

  const members = add(program, { name: 'member', summary: 'Invite, list and remove members' });
  verb(members, 'invite', 'Make an invitation, and print it once', inviteMember)
    .addOption(
      new Option('--role <role>', 'Owners edit and publish, members publish').choices(['owner', 'member']),
    )
    .option('--user <id>', 'Only this user may accept it')
    .option('--email <address>', 'Only who has verified this address may accept it');
  verb(members, 'list', 'List members and open invitations', listMembers);
  verb(members, 'remove <member>', 'Remove a member or an invitation, by id or e-mail', removeMember);
  verb(
    members,
    'accept <invitation>',
    'Accept an invitation, by its link or secret',
    acceptInvitation,
    true,
  ).option('--name <text>', 'Under which name the members see you');

  const trusts = add(program, { name: 'trust', summary: 'Let CI jobs publish without a stored secret' });
  const trust = verb(trusts, 'add <repository>', 'Trust the jobs of a workflow, such as octo/nodes', addTrust)
    .option('--workflow <file>', 'The workflow file', 'release.yml')
    .option(
      '--issuer <issuer>',
      'github, gitlab, or the URL of another CI that the registry accepts',
      'github',
    );
  fieldOptions(trust, trustLimits);
  verb(trusts, 'list', 'List trusted jobs', listTrusts);
  verb(trusts, 'remove <trust>', 'Stop trusting one, by its id or repository', removeTrust);
}

/** Runs a verb for the publisher that the flags or the folder name. */
async function onPublisher(verb: Verb, flags: AccountFlags, named: string): Promise<Ending> {
  const { publisher = (await readPyProject('.')).metadata.publisher } = flags;
  if (publisher === undefined)
    throw new Failure('usage', 'Name the publisher: --publisher ID, or start it in the folder of a node.');
  const { report, lines } = await runFor(publisher, verb, flags, named);
  return { report: { publisher, ...report }, lines };
}

/** As the person who is signed in. */
function runFor(publisherId: string, verb: Verb, flags: AccountFlags, named: string): Promise<Ending> {
  const { registry, hint } = connectAsOwner(flags);
  const ask: Ask = (...call) => registry.account(...call).catch(explainAccount(hint));
  return verb({ ask, path: { publisherId }, named, flags });
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

const createPublisher: Verb = async ({ ask, named: id, flags }) => {
  await ask('createPublisher', { body: { id, name: id, ...fieldsIn(profile, flags) } });
  const line = `${id} is a publisher, and you are its owner. Its id is never free again.`;
  return done('created', [line], { publisher: id });
};

const editPublisher: Verb = async ({ ask, path, flags }) => {
  const body = fieldsIn(profile, flags);
  if (Object.keys(body).length === 0)
    throw new Failure('usage', 'Name what to change as an option, such as --description.');
  await ask('updatePublisher', { path, body });
  return done('edited', [`${path.publisherId} has these fields as named here.`]);
};

const createToken: Verb = async ({ ask, path, flags, named: name }) => {
  const expires_in = Math.round(flags.days * 24 * 60 * 60);
  const body = { name, ...fieldsIn(onlyNode, flags), expires_in };
  const { token, ...made } = await ask('createPersonalAccessToken', { path, body });
  say(`The token "${name}" works until ${made.expires_at.slice(0, 16)}. It is not shown again.`);
  return done('created', [token], { token, tokens: [made] });
};

const listTokens: Verb = async ({ ask, path }) => {
  const tokens = await ask('listPersonalAccessTokens', { path });
  const rows = tokens.map(({ id, name, node_id, expires_at, last_used_at }) => [
    ...[id, name, node_id, expires_at.slice(0, 16), last_used_at?.slice(0, 16)],
  ]);
  const none = `${path.publisherId} has no tokens that you may see.`;
  return listed({ tokens }, ['ID', 'NAME', 'NODE', 'UNTIL', 'LAST USED'], rows, none);
};

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

const revokeToken: Verb = async (call) => {
  const { id, name } = await tokenOf(call);
  await call.ask('deletePersonalAccessToken', { path: { ...call.path, tokenId: id } });
  return done('revoked', [`The token "${name}" is revoked.`]);
};

/** The new one first: a job that publishes meanwhile has one of the two. */
const rotateToken: Verb = async (call) => {
  const { id, name, node_id: node } = await tokenOf(call);
  const { report, lines } = await createToken({ ...call, named: name, flags: { ...call.flags, node } });
  await call.ask('deletePersonalAccessToken', { path: { ...call.path, tokenId: id } });
  say('The old one is revoked.');
  return { report: { ...report, status: 'rotated' }, lines };
};

const listPending: Verb = async ({ ask, path, named: node }) => {
  const query = { statuses: 'NodeVersionStatusPending' };
  const versions = await ask('listNodeVersions', { path: { ...path, nodeId: node }, query });
  const rows = versions.map(({ version, createdAt, status_reason }) => [
    ...[version, createdAt?.slice(0, 16), status_reason],
  ]);
  const headings = ['VERSION', 'CREATED', 'WAITS FOR'];
  const { report, lines } = listed({ node, versions }, headings, rows, `${node} has nothing pending.`);
  const drop = `To drop one, so that its label is free again: withdraw ${node}@VERSION`;
  return { report, lines: versions.length > 0 ? [...lines, drop] : lines };
};

const inviteMember: Verb = async ({ ask, path, flags: { role = 'member', user, email } }) => {
  const body = { role, ...(user && { user_id: user }), ...(email && { email }) };
  const { invitation, link, ...shown } = await ask('createInvitation', { path, body });
  say(`Send it to the person. It works once, until ${shown.expires_at.slice(0, 10)}.`);
  const line = link ?? `publish-node member accept ${invitation}`;
  return done('invited', [line], { invitation, invitations: [{ ...shown, link }] });
};

const listMembers: Verb = async ({ ask, path }) => {
  const members = await ask('listMembers', { path });
  const isOwner = (await ask('getPermissionOnPublisher', { path })).canEdit;
  const invitations = isOwner ? await ask('listInvitations', { path }) : [];
  const rows = [
    ...members.map(({ id, role, user }) => [id, role, user.name ?? user.id, user.email]),
    ...invitations.map(({ id, role, email, user_id }) => [id, `invited ${role}`, user_id, email]),
  ];
  const none = `${path.publisherId} has no members.`;
  return listed({ members, invitations }, ['ID', 'ROLE', 'NAME', 'E-MAIL'], rows, none);
};

/** A member, or an invitation that is still open. */
const removeMember: Verb = async ({ ask, path, named }) => {
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
  const lines = [
    `${user.name ?? user.id ?? id} is no member of ${path.publisherId}. Ended with that: ${ended.tokens.length} tokens, ${ended.trusts.length} trusts.`,
    ...(names.length > 0 ? [`Still working, and perhaps known to them: ${names.join(', ')}`] : []),
  ];
  return done('removed', lines, remaining);
};

const acceptInvitation: Verb = async ({ ask, named, flags: { name } }) => {
  // A link has the secret behind its "#", percent-encoded.
  const fragment = new URLSearchParams(named.slice(named.lastIndexOf('#') + 1));
  const body = { invitation: fragment.get('invitation') ?? named, ...(name && { name }) };
  const { id } = await ask('acceptInvitation', { body });
  return done('added', [`You are a member of ${id}.`], { publisher: id });
};

const addTrust: Verb = async ({ ask, path, named: repository, flags }) => {
  const named = { issuer: issuerNamed(flags.issuer), repository, workflow: flags.workflow };
  const trust = await ask('createTrust', { path, body: { ...named, ...fieldsIn(trustLimits, flags) } });
  const notes = trust.ref === undefined ? [anyBranch] : [];
  const line = `${trustName(trust)} publishes for ${path.publisherId}, without a stored secret.`;
  return done('added', [line, ...notes], { trusts: [trust], notes });
};

const anyBranch =
  'Anyone who can push a branch with a changed workflow can publish. To allow only tags: --ref "refs/tags/v*"';

function trustName({ repository, workflow, ref }: Reply<'createTrust'>): string {
  return `${repository} ${workflow}${ref === undefined ? '' : ` at ${ref}`}`;
}

const listTrusts: Verb = async ({ ask, path }) => {
  const trusts = await ask('listTrusts', { path });
  const rows = trusts.map((trust) => [trust.id, trustName(trust), trust.node_id, trust.last_used_at]);
  const none = `${path.publisherId} trusts no CI job.`;
  return listed({ trusts }, ['ID', 'JOB', 'NODE', 'LAST USED'], rows, none);
};

const removeTrust: Verb = async ({ ask, path, named }) => {
  const trusts = await ask('listTrusts', { path });
  const isMeant = ({ id, repository }: (typeof trusts)[number]) => [id, repository].includes(named);
  const trust = only(path, trusts, isMeant, `trust in "${named}"`);
  await ask('deleteTrust', { path: { ...path, trustId: trust.id } });
  return done('removed', [`${trustName(trust)} publishes no more.`]);
};
