import { Command, CommanderError, Option } from 'commander';
import { positiveNumber } from 'command-line/command';
import manifest from './package.json' with { type: 'json' };
import { deprecateCommand } from './deprecate-command.ts';
import { downloadCommand } from './download-command.ts';
import { exitCodes } from './failure.ts';
import { leaveStep } from './github-step.ts';
import { initCommand } from './init-command.ts';
import { type Ending, end, type Mean, printReport, reportOf, say, tell } from './output.ts';
import {
  allowHttpOption,
  baseUrlOption,
  downloadsUrlOption,
  identityOptions,
  json,
  metadataOf,
  outputOption,
  packOptions,
  version,
} from './options.ts';
import { packCommand } from './pack-command.ts';
import { printable } from './printable.ts';
import { publishCommand } from './publish-command.ts';
import type { Metadata } from './pyproject.ts';
import { showCommand } from './read-commands.ts';
import { statusCommand } from './status-command.ts';
import { whoamiCommand } from './whoami-command.ts';
import { type WithdrawFlags, withdrawCommand } from './withdraw-command.ts';

const about = `In a git repository, publishes the files that git tracks, and new ones that no .gitignore names; elsewhere,
all files that no .gitignore names. A .publishignore or .comfyignore excludes more; "includes" in pyproject.toml and
--include bring back ignored files, such as built ones. Files that look like secrets are rejected unless they are allowed
by name. In GitHub Actions and GitLab, the job publishes with its ID token, without a stored secret; elsewhere, set
NODE_REGISTRY_TOKEN to a personal access token. It is safe to run again after a failure at any point.`;

const publishHelp = `
Examples:
  publish-node publish --dry-run
  publish-node publish my-node --publisher me
  publish-node publish --changelog 'Loads twice as fast'
  publish-node publish --include web/dist --allow tests/data/key.pem`;

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

/** Runs a command line and returns its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.done;
  /** What is wrong with the command line, for the report that --json asks for. */
  let mistake = '';
  const act: Act = async ({ json = false, github = false }, work) => {
    const ending = await end(json, work);
    exitCode = ending.exitCode;
    if (github) await leaveStep(reportOf(ending.report), process.env);
  };
  const program = new Command('publish-node')
    .description('Publishes a folder as a version of a node.')
    .version(manifest.version, '-V, --version', 'Print the version of this command')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeErr: (text) => say(...text.trimEnd().split('\n')),
      writeOut: (text) => tell(text.trimEnd().split('\n')),
      outputError: (text, write) => {
        const command = program.commands.find((each) => each.name() === args[0]);
        const help = `publish-node ${command ? `${command.name()} ` : ''}--help`;
        mistake = `${text
          .trim()
          .replaceAll('\n', ' ')
          .replace(/(?<!\.)$/, '.')} See ${help}`;
        write(mistake);
      },
    })
    .addHelpText('after', '\nEach command has its own --help.')
    .addHelpText('afterAll', exitHelp);
  addOnFolder(program, act);
  addDeprecate(program, act);
  addReading(program, act);
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
  // A reader such as head may leave early, and that stops no publish.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  process.exitCode = await run(args).catch((error: unknown) => {
    say(...(error instanceof Error ? String(error.stack) : String(error)).split('\n'));
    return exitCodes.internal;
  });
}

type Work<Flags> = (named: string, flags: Flags, mean: Mean) => Promise<Ending>;

/** A command on a folder. What it names comes from its pyproject.toml, unless an option says it. */
function onFolder<Flags>(
  program: Command,
  act: Act,
  name: string,
  texts: readonly [string, string],
  work: Work<Flags>,
): Command {
  return described(program.command(name), ...texts)
    .argument('[folder]', 'The folder', '.')
    .option('--publisher <id>', 'The publisher; [tool.node-registry] publisher')
    .option('--node <id>', 'The node; [project] name')
    .action((folder: string, flags) =>
      act(flags, (mean) =>
        work(folder, { include: [], allow: [], dryRun: false, ...flags, metadata: metadataOf(flags) }, mean),
      ),
    );
}

function addOnFolder(program: Command, act: Act): void {
  const add = <Flags>(name: string, summary: string, more: string, work: Work<Flags>) =>
    onFolder(program, act, name, [summary, more], work);
  identityOptions(packOptions(add('publish', publishSummary, about, publishCommand)))
    .addOption(new Option('--changelog <text>', 'What is new in this version').conflicts('changelogFile'))
    .option('--changelog-file <path>', 'A file with what is new in this version')
    .option('--timeout <seconds>', 'How long to wait for the upload to be checked', positiveNumber, 120)
    .option('--dry-run', 'Only show what would be published')
    .option('--github', 'For a step of GitHub Actions: set its outputs, write a summary and an annotation')
    .addHelpText('after', publishHelp);
  const packed = 'Writes the archive that publish would upload, byte for byte, and sends nothing.';
  packOptions(add('pack', 'write the archive that would be published, to look at it', packed, packCommand))
    .addOption(outputOption())
    .option(...json);
  add('status', 'show whether a version is published, and if not, why', noToken, statusCommand)
    .option(...version)
    .addOption(baseUrlOption())
    .option(...json);
  identityOptions(
    add('whoami', 'show what your tokens may do for a publisher and a node', asked, whoamiCommand),
  );
  for (const withdraws of [true, false]) {
    const summary = withdraws
      ? 'remove a node of yours from every list; its versions stay downloadable'
      : 'put a withdrawn node of yours back';
    add<WithdrawFlags>(
      withdraws ? 'withdraw' : 'restore',
      summary,
      'It needs the access token of an owner.',
      (folder, flags, mean) => withdrawCommand(folder, { ...flags, withdraws }, mean),
    )
      .option('--reason <text>', 'The reason, shown with the node')
      .option('--access-token <token>', 'An access token of an owner; better in NODE_REGISTRY_ACCESS_TOKEN')
      .addOption(baseUrlOption())
      .addOption(allowHttpOption())
      .option(...json);
  }
  const lacking = 'What pyproject.toml has stays unchanged.';
  add<{ metadata: Metadata }>(
    'init',
    'write the tables that publishing needs into pyproject.toml',
    lacking,
    (folder, { metadata }) => initCommand(folder, metadata),
  )
    .option(...version)
    .option('--display-name <text>', 'The name for people')
    .option('--description <text>', 'What the node does')
    .option(...json);
}

function addDeprecate(program: Command, act: Act): void {
  const deprecate = program.command('deprecate <node> <version>');
  identityOptions(described(deprecate, 'mark a published version as deprecated, or take that back', stays))
    .option('--publisher <id>', 'The publisher; by default that of the pyproject.toml here')
    .option('--undo', 'Take it back')
    .option('--changelog <text>', 'A new text on what is new in this version, such as why it is deprecated')
    .action((node: string, version: string, flags) =>
      act(flags, (mean) => deprecateCommand(node, version, flags, mean)),
    );
}

/** What anyone may ask, without a token and from any folder. */
function addReading(program: Command, act: Act): void {
  const reading = <Flags>(name: string, summary: string, work: Work<Flags>) =>
    described(program.command(name), summary, noToken)
      .addOption(baseUrlOption())
      .addOption(downloadsUrlOption())
      .option(...json)
      .action((text: string, flags) => act(flags, (mean) => work(text, flags, mean)));
  reading(
    'show <node[@version]>',
    'show a node, its versions, and one of them with its host nodes',
    showCommand,
  );
  reading('download <node[@version]>', 'download a version and verify its bytes', downloadCommand).addOption(
    outputOption(),
  );
}

const publishSummary = 'zip a folder, publish it, upload it, and wait until it can be downloaded';
const noToken = 'It needs no token.';
const stays = 'Its bytes stay downloadable.';
const asked =
  'Asks the registry for two changes that it can only reject: what the rejections reveal is shown, and nothing changes.';

function described(command: Command, summary: string, more: string): Command {
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  return command.summary(summary).description(`${sentence} ${more.replaceAll('\n', ' ')}`);
}
