import { type Command, CommanderError, Option } from 'commander';
import { createCommand, outliveReaders, positiveNumber } from '@node-registry/command-line/command';
import manifest from './package.json' with { type: 'json' };
import { addAccount } from './account-commands.ts';
import { editCommand, type EditFlags } from './edit-command.ts';
import { deprecateCommand } from './deprecate-command.ts';
import { downloadCommand } from './download-command.ts';
import { diskFull, exitCodes, isDiskFull } from './failure.ts';
import { leaveStep } from './github-step.ts';
import { initCommand } from './init-command.ts';
import { type Ending, end, type Mean, printReport, reportOf, say, tell } from './output.ts';
import {
  baseUrlOption,
  collect,
  downloadsUrlOption,
  identityOptions,
  json,
  metadataOf,
  outputOption,
  ownerOptions,
  packOptions,
  version,
} from './options.ts';
import { packCommand } from './pack-command.ts';
import { printable } from './printable.ts';
import { publishCommand } from './publish-command.ts';
import type { Metadata } from './pyproject.ts';
import { searchCommand, showCommand, versionsCommand } from './read-commands.ts';
import { statusCommand } from './status-command.ts';
import { type WithdrawFlags, withdrawCommand } from './withdraw-command.ts';

const publishAbout = {
  name: 'publish',
  summary: 'Zip a folder, publish it, upload it, and wait until it can be downloaded',
  notes: `In a git repository, publishes the files that git tracks, and new ones that no .gitignore names; elsewhere, all
files that no .gitignore names. A .publishignore or .comfyignore excludes more; "includes" in pyproject.toml and --include
bring back ignored files, such as built ones. Files that look like secrets are rejected unless they are allowed by name. In
GitHub Actions and GitLab, the job publishes with its ID token, without a stored secret; elsewhere, sign in with login, or
set NODE_REGISTRY_TOKEN to a personal access token. It is safe to run again after a failure at any point.`,
  examples: [
    'publish --dry-run',
    'publish my-node --publisher me',
    "publish --changelog 'Loads twice as fast'",
    'publish --include web/dist --allow tests/data/key.pem',
  ],
};
const packAbout = {
  name: 'pack',
  summary: 'Write the archive that would be published, to look at it',
  notes: 'It is byte for byte what publish would upload. Nothing is sent.',
};
const withdrawal = {
  withdraw: 'Remove a node of yours, or NODE@VERSION, from every list; it stays downloadable',
  restore: 'Put a withdrawn node or version of yours back',
};

const removal =
  'Published bytes stay for those who depend on them. "withdraw NODE@VERSION" takes a version out of every list, "withdraw" a whole node, and "deprecate NODE@VERSION" marks a version.';
const newest = 'To get a version: download NODE.';
const versionList = 'To list versions: versions NODE.';
/** Words that people know from other tools, and what to do instead. */
const elsewhere: Record<string, string> = {
  ...{ unpublish: removal, yank: removal, remove: removal, delete: removal },
  ...{ signin: 'To sign in: login.', adduser: 'To sign in: login.' },
  ...{ owner: 'Members: member list.', unlogin: 'To sign out: logout.' },
  ...{ install: newest, add: newest, update: newest, upgrade: newest, outdated: newest },
  ...{ uninstall: 'Nothing is installed: delete the folder of the node.' },
  ...{ info: 'To see a node: show NODE.', view: 'To see a node: show NODE.' },
  ...{ list: versionList, ls: versionList },
  ...{ build: 'To make the archive: pack.', package: 'To make the archive: pack.' },
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

type Act = (
  flags: { json?: boolean; github?: boolean },
  work: (mean: Mean) => Promise<Ending>,
) => Promise<void>;

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
  const act: Act = async ({ json = false, github = false }, work) => {
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
  addPublishing(program, act);
  addAccount(program, act, add);
  addOwning(program, act);
  addReading(program, act);
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
}

type Work<Flags> = (named: string, flags: Flags, mean: Mean) => Promise<Ending>;
type About = Parameters<typeof createCommand>[0] & { named?: boolean };

function add(program: Command, about: About): Command {
  const command = createCommand(about, output);
  program.addCommand(command);
  return command;
}

/** A command on a folder. Names come from its pyproject.toml, unless an option gives them. */
function onFolder<Flags>(program: Command, act: Act, about: About, work: Work<Flags>): Command {
  return add(program, about)
    .argument(
      '[folder]',
      about.named ? 'The folder, NODE@VERSION, or VERSION of the node here' : 'The folder',
      '.',
    )
    .option('--publisher <id>', 'The publisher; [tool.node-registry] publisher')
    .option('--node <id>', 'The node; [project] name')
    .action((folder: string, flags) =>
      act(flags, (mean) =>
        work(folder, { include: [], allow: [], dryRun: false, ...flags, metadata: metadataOf(flags) }, mean),
      ),
    );
}

function addPublishing(program: Command, act: Act): void {
  const publish = onFolder(program, act, publishAbout, publishCommand);
  identityOptions(packOptions(publish))
    .option('--changelog <text>', 'What is new in this version; default: its part of CHANGELOG.md')
    .option('--timeout <seconds>', 'How long to wait for the upload to be checked', positiveNumber, 120)
    .option('--dry-run', 'Only show what would be published')
    .option('--github', 'For a step of GitHub Actions: set its outputs, write a summary and an annotation');
  packOptions(onFolder(program, act, packAbout, packCommand))
    .addOption(outputOption())
    .option(...json);
  const summary = 'Write the tables that publishing needs into pyproject.toml';
  const init = { name: 'init', summary, notes: 'What pyproject.toml has stays unchanged.' };
  onFolder<{ metadata: Metadata; baseUrl: string }>(program, act, init, (folder, { metadata, baseUrl }) =>
    initCommand(folder, metadata, { baseUrl }),
  )
    .addOption(baseUrlOption())
    .option(...version)
    .option('--display-name <text>', 'The name for people')
    .option('--description <text>', 'What the node does')
    .option(...json);
}

function addOwning(program: Command, act: Act): void {
  const notes = 'It needs the access token of an owner.';
  const drops = ' A version that waits for its upload is dropped: its label is free again.';
  for (const [name, summary] of Object.entries(withdrawal)) {
    const withdraws = name === 'withdraw';
    const about = { named: true, name, summary, notes: notes + (withdraws ? drops : '') };
    const command = onFolder<WithdrawFlags>(program, act, about, (folder, flags, mean) =>
      withdrawCommand(folder, { ...flags, withdraws }, mean),
    ).option('--reason <text>', 'The reason, shown with the node');
    ownerOptions(command);
  }
  const edited = 'Change the metadata of a node without a release, as pyproject.toml and the options name it';
  const editAbout = { named: true, name: 'edit', summary: edited, notes };
  const edit = onFolder<EditFlags>(program, act, editAbout, editCommand)
    .option('--display-name <text>', 'The name for people')
    .option('--description <text>', 'What the node does')
    .option('--tags <tag>', 'A tag; may be repeated', collect);
  for (const field of ['icon', 'banner', 'repository', 'license']) edit.option(`--${field} <text>`);
  ownerOptions(edit);
  const deprecated = 'Mark a published version as deprecated, or undo that';
  const about = { name: 'deprecate', summary: deprecated, notes: 'Its bytes stay downloadable.' };
  identityOptions(add(program, about).argument('<version>', 'NODE@VERSION, or VERSION of the node here'))
    .option('--publisher <id>', 'The publisher; default: from the pyproject.toml here')
    .option('--undo', 'Undo the deprecation')
    .option('--reason <text>', 'Why, as the last line of its change log')
    .addOption(new Option('--changelog <text>', 'A new change log of this version').conflicts('reason'))
    .action((text: string, flags) => act(flags, (mean) => deprecateCommand(text, flags, mean)));
}

/** The commands that work without a token. */
function addReading(program: Command, act: Act): void {
  const notes = 'It needs no token.';
  const status = {
    named: true,
    name: 'status',
    summary: 'Show whether a version is published, and if not, why',
    notes,
  };
  onFolder(program, act, status, statusCommand)
    .option(...version)
    .addOption(baseUrlOption())
    .option(...json);
  const reading = <Flags>(usage: [string, string], summary: string, work: Work<Flags>) =>
    add(program, { name: usage[0], summary, notes })
      .argument(usage[1])
      .addOption(baseUrlOption())
      .addOption(downloadsUrlOption())
      .option(...json)
      .action((text: string | string[], flags) =>
        act(flags, (mean) => work([text].flat().join(' '), flags, mean)),
      );
  const node = '<node[@version]>';
  const searched = 'Find nodes by words of their ID, name, description, tags, publisher or host nodes';
  const page = (text: string) => Math.ceil(positiveNumber(text));
  reading(['search', '<words...>'], searched, searchCommand).option(
    '--page <number>',
    'Show these twenty',
    page,
    1,
  );
  reading(['versions', '<node>'], 'List the published versions of a node', versionsCommand);
  reading(['show', node], 'Show a node, its versions, and one of them with its host nodes', showCommand);
  reading(['download', node], 'Download a version and verify its bytes', downloadCommand).addOption(
    outputOption(),
  );
}
