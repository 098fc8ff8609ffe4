import { type Command, CommanderError, type Option } from 'commander';
import { createCommand, outliveReaders, positiveNumber } from '@node-registry/command-line/command';
import manifest from './package.json' with { type: 'json' };
import * as account from './account-commands.ts';
import { diskFull, exitCodes, isDiskFull } from './failure.ts';
import { leaveStep } from './github-step.ts';
import { initCommand } from './init-command.ts';
import { type Ending, end, type Mean, printReport, reportOf, say, tell } from './output.ts';
import * as options from './options.ts';
import { fieldOptions, listed, metadataOf, option } from './options.ts';
import { printable } from './printable.ts';
import { packCommand, publishCommand } from './publish-command.ts';
import {
  downloadCommand,
  searchCommand,
  showCommand,
  statusCommand,
  versionsCommand,
} from './read-commands.ts';
import { ofFiles } from './reading.ts';
import { deprecateCommand, editCommand, restoreCommand, withdrawCommand } from './owner-commands.ts';

const groups: Record<string, string> = {
  publisher: 'Make or edit a publisher',
  token: 'Make, list and end personal access tokens',
  member: 'Invite, list and remove members',
  trust: 'Let CI jobs publish without a stored secret',
};
const ofPublisher = [...options.owner, options.publisher];

/** What a command line takes and does. */
type Line = [
  summary: string,
  options: readonly Option[],
  run: (named: string, flags: never, mean: Mean) => Promise<Ending>,
  more?: { notes?: string; examples?: readonly string[]; argument?: string },
];

const publishNotes = `In a git repository, publishes the files that git tracks, and new ones that no .gitignore names; elsewhere, all
files that no .gitignore names. A .publishignore or .comfyignore excludes more; "includes" in pyproject.toml and --include
bring back ignored files, such as built ones. Files that look like secrets are rejected unless they are allowed by name. In
GitHub Actions and GitLab, the job publishes with its ID token, without a stored secret; elsewhere, sign in with login, or
set NODE_REGISTRY_TOKEN to a personal access token. It is safe to run again after a failure at any point.`;
const loginNotes =
  'Shows an address to open in your browser here, or with --device a code for another one. publish then makes a token of its own and ends it.';
const examples = [
  'publish --dry-run',
  'publish my-node --publisher me',
  "publish --changelog 'Loads twice as fast'",
  'publish --include web/dist --allow tests/data/key.pem',
];

const { folder, owner, reading, json } = options;
const publishing = [
  ...options.pack,
  ...options.identity,
  option('--changelog <text>', 'What is new in this version; default: its part of CHANGELOG.md'),
  option('--timeout <seconds>', 'How long to wait for the upload to be checked')
    .argParser(positiveNumber)
    .default(120),
  option('--dry-run', 'Only show what would be published'),
  option('--github', 'For a step of GitHub Actions: set its outputs, write a summary and an annotation'),
];
const invitation = [
  option('--role <role>', 'Owners edit and publish, members publish').choices(['owner', 'member']),
  option('--user <id>', 'Only this user may accept it'),
  option('--email <address>', 'Only who has verified this address may accept it'),
];
const trust = [
  option('--workflow <file>', 'The workflow file').default('release.yml'),
  option('--issuer <issuer>', 'github, gitlab, or the URL of another CI that the registry accepts').default(
    'github',
  ),
  ...fieldOptions(account.trustLimits),
];
const deprecation = [
  option('--undo', 'Undo the deprecation'),
  option('--reason <text>', 'Why, as the last line of its change log'),
  option('--changelog <text>', 'A new change log of this version').conflicts('reason'),
];
const edited = [
  listed('--tags <tag>', 'A tag'),
  option('--icon <url>', 'Its picture; [tool.node-registry] icon'),
  option('--banner <url>', 'The picture above its page; [tool.node-registry] banner'),
  option('--repository <url>', 'Where its source is; [project.urls] Repository'),
  option('--license <text>', 'Its license, such as MIT; [project] license'),
];
const profile = fieldOptions(account.profile);
const name = option('--name <text>', 'Under which name the members see you');
const device = option('--device', 'Show a code to type on another device');
const reason = option('--reason <text>', 'The reason, shown with the node');
const page = option('--page <number>', 'Show these twenty')
  .argParser((text) => Math.ceil(positiveNumber(text)))
  .default(1);

const ofNode = { argument: 'The folder, NODE@VERSION, or VERSION of the node here' };
const notes = 'It needs the access token of an owner.';
const drops = ' A version that waits for its upload is dropped: its label is free again.';
const byAnyone = { notes: 'It needs no token.' };

const commands: Record<string, Line> = {
  'publish [folder]': [
    'Zip a folder, publish it, upload it, and wait until it can be downloaded',
    publishing,
    publishCommand,
    { notes: publishNotes, examples },
  ],
  'pack [folder]': [
    'Write the archive that would be published, to look at it',
    [...options.pack, options.output, json],
    packCommand,
    { notes: 'It is byte for byte what publish would upload. Nothing is sent.' },
  ],
  'init [folder]': [
    'Write the tables that publishing needs into pyproject.toml',
    [...folder, options.baseUrl, options.version, ...options.texts, json],
    initCommand,
    { notes: 'What pyproject.toml has stays unchanged.' },
  ],

  login: [
    'Sign in at the registry, so that no token must be stored',
    [device, ...owner],
    account.login,
    { notes: loginNotes },
  ],
  logout: ['Forget who is signed in at the registry', owner, account.logout],
  whoami: ['Show who you are, your publishers and tokens', owner, account.whoami],
  'publisher create <id>': [
    'Make a publisher, and be its owner',
    [...owner, ...profile],
    account.createPublisher,
  ],
  'publisher edit': ['Change what people see of it', [...ofPublisher, ...profile], account.editPublisher],
  'token create <name>': [
    'Make one, and print it once',
    [...ofPublisher, options.days, ...fieldOptions(account.onlyNode)],
    account.createToken,
  ],
  'token list': ['List those that work', ofPublisher, account.listTokens],
  'token revoke <token>': ['End one, by its id or name', ofPublisher, account.revokeToken],
  'token rotate <token>': [
    'Make a new one like it, then end it',
    [...ofPublisher, options.days],
    account.rotateToken,
  ],
  'pending <node>': [
    'List what a node of yours has begun and not published',
    ofPublisher,
    account.listPending,
  ],
  'member invite': [
    'Make an invitation, and print it once',
    [...ofPublisher, ...invitation],
    account.inviteMember,
  ],
  'member list': ['List members and open invitations', ofPublisher, account.listMembers],
  'member remove <member>': [
    'Remove a member or an invitation, by id or e-mail',
    ofPublisher,
    account.removeMember,
  ],
  'member accept <invitation>': [
    'Accept an invitation, by its link or secret',
    [...owner, name],
    account.acceptInvitation,
  ],
  'trust add <repository>': [
    'Trust the jobs of a workflow, such as octo/nodes',
    [...ofPublisher, ...trust],
    account.addTrust,
  ],
  'trust list': ['List trusted jobs', ofPublisher, account.listTrusts],
  'trust remove <trust>': ['Stop trusting one, by its id or repository', ofPublisher, account.removeTrust],

  'withdraw [folder]': [
    'Remove a node of yours, or NODE@VERSION, from every list; it stays downloadable',
    [...folder, reason, ...owner],
    withdrawCommand,
    { ...ofNode, notes: notes + drops },
  ],
  'restore [folder]': [
    'Put a withdrawn node or version of yours back',
    [...folder, reason, ...owner],
    restoreCommand,
    { ...ofNode, notes },
  ],
  'edit [folder]': [
    'Change the metadata of a node without a release, as pyproject.toml and the options name it',
    [...folder, ...options.texts, ...edited, ...owner],
    editCommand,
    { argument: 'The folder, or NODE', notes },
  ],
  'deprecate <version>': [
    'Mark a published version as deprecated, or undo that',
    [...options.identity, options.publisher, ...deprecation],
    deprecateCommand,
    { argument: 'NODE@VERSION, or VERSION of the node here', notes: 'Its bytes stay downloadable.' },
  ],

  'status [folder]': [
    'Show whether a version is published, and if not, why',
    [...folder, options.version, options.baseUrl, json],
    statusCommand,
    { ...ofNode, ...byAnyone },
  ],
  'search <words...>': [
    'Find nodes by words of their ID, name, description, tags, publisher or host nodes',
    [...reading, page],
    ofFiles(searchCommand),
    byAnyone,
  ],
  'versions <node>': ['List the published versions of a node', reading, ofFiles(versionsCommand), byAnyone],
  'show <node[@version]>': [
    'Show a node, its versions, and one of them with its host nodes',
    reading,
    ofFiles(showCommand),
    byAnyone,
  ],
  'download <node[@version]>': [
    'Download a version and verify its bytes',
    [...reading, options.output],
    ofFiles(downloadCommand),
    byAnyone,
  ],
};

const removal =
  'Published bytes stay for those who depend on them. "withdraw NODE@VERSION" takes a version out of every list, "withdraw" a whole node, and "deprecate NODE@VERSION" marks a version.';
const newest = 'To get a version: download NODE.';
const versionList = 'To list versions: versions NODE.';
/** Words that people know from other tools, and what to do instead. */
const elsewhere: Record<string, string> = {
  unpublish: removal,
  yank: removal,
  remove: removal,
  delete: removal,
  signin: 'To sign in: login.',
  adduser: 'To sign in: login.',
  owner: 'Members: member list.',
  unlogin: 'To sign out: logout.',
  install: newest,
  add: newest,
  update: newest,
  upgrade: newest,
  outdated: newest,
  uninstall: 'Nothing is installed: delete the folder of the node.',
  info: 'To see a node: show NODE.',
  view: 'To see a node: show NODE.',
  list: versionList,
  ls: versionList,
  build: 'To make the archive: pack.',
  package: 'To make the archive: pack.',
  version: 'To raise the version: change it in pyproject.toml, then publish.',
  'dist-tag': 'Versions have no tags: the highest that is not deprecated is the latest.',
  drop: 'To drop a version that waits for its upload: withdraw NODE@VERSION. To list them: pending NODE.',
};

const exitHelp = `
Exit codes:
  0   done; of publish: the version is published, by this run or an earlier one of the same files
  2   the command line, the folder or the URL is not valid; nothing was published
  3   the registry rejected the request, or what was asked for is not there or not active
  4   the registry rejected the archive; change the files and run again
  5   the network or the registry failed, or the upload is missing or still being checked; run again
  70  a bug of this command; report what it printed
  130 stopped by Ctrl-C; run again`;

/** The mistake in the command line, for the report with --json. */
let mistake = '';

const output = {
  stdout: { write: (text: string) => tell(text.trimEnd().split('\n')) },
  stderr: {
    write: (text: string) => {
      mistake = text.trimEnd();
      say(...mistake.split('\n'));
    },
  },
};

/** Runs a command line and returns its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.done;
  const act = async ({ json = false, github = false }, work: (mean: Mean) => Promise<Ending>) => {
    const ending = await end(json, work);
    exitCode = ending.exitCode;
    if (github)
      await leaveStep(reportOf(ending.report), process.env).catch((error: unknown) => {
        if (!isDiskFull(error)) throw error;
        say(diskFull);
        exitCode ||= exitCodes.usage;
      });
  };
  const about = { name: 'publish-node', summary: 'Publish a folder as a version of a node' };
  const program = createCommand(
    { ...about, notes: 'Each command has its own --help.', version: manifest.version },
    output,
  )
    .enablePositionalOptions()
    .helpCommand('help [command]', 'Show the help of a command')
    .addHelpText('afterAll', exitHelp);
  const groupOf = (name: string): Command => {
    const known = program.commands.find((command) => command.name() === name);
    const group = known ?? createCommand({ name, summary: groups[name] ?? '' }, output);
    if (!known) program.addCommand(group);
    return group;
  };
  for (const [usage, [summary, options, run, { argument = '', ...more } = {}]] of Object.entries(commands)) {
    const [, group, name = '', placeholder] = /^(?:(\w+) (?=\w))?(\w+)(?: (.+))?$/.exec(usage) ?? [];
    const command = createCommand({ name, summary, ...more }, output);
    (group === undefined ? program : groupOf(group)).addCommand(command);
    if (placeholder === '[folder]') command.argument(placeholder, argument || 'The folder', '.');
    else if (placeholder) command.argument(placeholder, argument);
    for (const option of options) command.addOption(option);
    command.action((...given) => {
      const [text, flags] = placeholder ? given : ['', ...given];
      const all = { include: [], allow: [], dryRun: false, ...flags, metadata: metadataOf(flags) };
      return act(flags, (mean) => run([text].flat().join(' '), all as never, mean));
    });
  }
  const [word = ''] = args;
  if (Object.hasOwn(elsewhere, word)) {
    const instead = `There is no command "${word}". ${elsewhere[word]}`;
    say(instead);
    if (args.includes('--json')) printReport(reportOf({ error: 'usage', message: instead }));
    return exitCodes.usage;
  }
  if (args.length === 0) {
    program.outputHelp();
    return exitCodes.done;
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.done;
    if (args.includes('--json')) printReport(reportOf({ error: 'usage', message: printable(mistake) }));
    return exitCodes.usage;
  }
}

/** Runs a command line and sets the exit code. Unexpected errors show their stack. */
export async function runToExitCode(args: readonly string[]): Promise<void> {
  outliveReaders();
  process.exitCode = await run(args).catch((error: unknown) => {
    say(...(error instanceof Error ? String(error.stack) : String(error)).split('\n'));
    return exitCodes.internal;
  });
  // What was stopped may still run.
  if (process.exitCode === exitCodes.interrupted) process.exit();
}
