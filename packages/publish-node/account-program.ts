import { type Command, Option } from 'commander';
import { positiveNumber } from '@node-registry/command-line/command';
import * as verbs from './account-commands.ts';
import { loginCommand, type LoginFlags, logoutCommand, whoamiCommand } from './login-commands.ts';
import { ownerOptions } from './options.ts';
import type { Ending, Mean } from './output.ts';

/* The command lines of signing in, and of what a person does for a publisher. */

type Act = (flags: { json?: boolean }, work: (mean: Mean) => Promise<Ending>) => Promise<void>;
type Add = (program: Command, about: { name: string; summary: string; notes?: string }) => Command;

const publisher = ['--publisher <id>', 'The publisher; default: from the pyproject.toml here'] as const;
const profile = [
  ['--name <text>', 'The name for people'],
  ['--description <text>', 'What it does'],
  ['--website <url>', 'Home page'],
  ['--support <url>', 'Where to get help'],
  ['--source-code-repo <url>', 'Where the source code is'],
  ['--logo <url>', 'A picture'],
] as const;
const days = ['--days <number>', 'For how many days it works', positiveNumber, 90] as const;
const node = ['--node <id>', 'Only this node'] as const;

export function addAccount(program: Command, act: Act, add: Add): void {
  const login = add(program, {
    name: 'login',
    summary: 'Sign in at the registry, so that no token must be stored',
    notes:
      'Shows an address to open in your browser here, or with --device a code for another one. publish then makes a token of its own and ends it.',
  }).option('--device', 'Show a code to type on another device');
  ownerOptions(login).action((flags: LoginFlags) => act(flags, () => loginCommand(flags)));
  const logout = add(program, { name: 'logout', summary: 'Forget who is signed in at the registry' });
  ownerOptions(logout).action((flags) => act(flags, () => logoutCommand(flags)));
  const whoami = add(program, { name: 'whoami', summary: 'Show who you are, your publishers and tokens' });
  ownerOptions(whoami).action((flags) => act(flags, () => whoamiCommand(flags)));

  const group = (name: string, summary: string) => add(program, { name, summary });
  const verb = (
    of: Command,
    usage: string,
    summary: string,
    run: Parameters<typeof verbs.onPublisher>[0],
  ) => {
    const [name = '', argument] = usage.split(' ');
    const command = ownerOptions(add(of, { name, summary }).option(...publisher));
    if (argument === undefined)
      return command.action((flags) => act(flags, () => verbs.onPublisher(run, flags)));
    return command
      .argument(argument)
      .action((named: string, flags) => act(flags, () => verbs.onPublisher(run, flags, named)));
  };

  const publishers = group('publisher', 'Make or edit a publisher');
  const create = ownerOptions(
    add(publishers, { name: 'create', summary: 'Make a publisher, and be its owner' }),
  );
  create
    .argument('<id>')
    .action((id: string, flags) =>
      act(flags, () => verbs.onPublisher(verbs.createPublisher, { ...flags, publisher: id })),
    );
  const edit = verb(publishers, 'edit', 'Change what people see of it', verbs.editPublisher);
  for (const [flag, about] of profile) for (const command of [create, edit]) command.option(flag, about);

  const tokens = group('token', 'Make, list and end personal access tokens');
  verb(tokens, 'create <name>', 'Make one, and print it once', verbs.createToken)
    .option(...days)
    .option(...node);
  verb(tokens, 'list', 'List those that work', verbs.listTokens);
  verb(tokens, 'revoke <token>', 'End one, by its id or name', verbs.revokeToken);
  verb(tokens, 'rotate <token>', 'Make a new one like it, then end it', verbs.rotateToken).option(...days);

  verb(program, 'pending <node>', 'List what a node of yours has begun and not published', verbs.listPending);

  const members = group('member', 'Invite, list and remove members');
  verb(members, 'invite', 'Make an invitation, and print it once', verbs.inviteMember)
    .addOption(
      new Option('--role <role>', 'Owners edit and publish, members publish').choices(['owner', 'member']),
    )
    .option('--user <id>', 'Only this user may accept it')
    .option('--email <address>', 'Only who has verified this address may accept it');
  verb(members, 'list', 'List members and open invitations', verbs.listMembers);
  verb(members, 'remove <member>', 'Remove a member or an invitation, by id or e-mail', verbs.removeMember);
  ownerOptions(add(members, { name: 'accept', summary: 'Accept an invitation, by its link or secret' }))
    .argument('<invitation>')
    .option('--name <text>', 'Under which name the members see you')
    .action((text: string, flags) => act(flags, () => verbs.acceptInvitation(flags, text)));

  const trusts = group('trust', 'Let CI jobs publish without a stored secret');
  verb(trusts, 'add <repository>', 'Trust the jobs of a workflow, such as octo/nodes', verbs.addTrust)
    .option('--workflow <file>', 'The workflow file', 'release.yml')
    .option('--job-workflow <file@ref>', 'Only jobs in this reusable workflow')
    .option('--environment <name>', 'Only jobs of this environment')
    .option('--ref <ref>', 'Only jobs of this branch or tag; a * at its end matches anything')
    .option('--event <name>', 'Also jobs of this event, such as workflow_run')
    .option(
      '--issuer <issuer>',
      'github, gitlab, or the URL of another CI that the registry accepts',
      'github',
    )
    .option(...node);
  verb(trusts, 'list', 'List trusted jobs', verbs.listTrusts);
  verb(trusts, 'remove <trust>', 'Stop trusting one, by its id or repository', verbs.removeTrust);
}
