import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import manifest from './package.json' with { type: 'json' };
import { deprecateCommand } from './deprecate-command.ts';
import { downloadCommand } from './download-command.ts';
import { exitCodes } from './failure.ts';
import { leaveStep } from './github-step.ts';
import { identities } from './identity.ts';
import { initCommand } from './init-command.ts';
import { type Ending, end, type Mean, printReport, reportOf, say, tell } from './output.ts';
import { packCommand } from './pack-command.ts';
import { printable } from './printable.ts';
import { publishCommand } from './publish-command.ts';
import { searchCommand, showCommand, versionsCommand } from './read-commands.ts';
import { statusCommand } from './status-command.ts';
import { isWebAddress } from 'registry-rules/web-address';
import { whoamiCommand } from './whoami-command.ts';
import { withdrawCommand } from './withdraw-command.ts';

const about = `In a git repository, publishes the files that git tracks, and new ones that no .gitignore names; elsewhere,
all files that no .gitignore names. A .publishignore or .comfyignore excludes more; "includes" in pyproject.toml and
--include bring back ignored files, such as built ones. Files that look like secrets are rejected unless they are allowed
by name. In GitHub Actions and GitLab, the job publishes with its ID token, without a stored secret; elsewhere, set
NODE_REGISTRY_TOKEN to a personal access token. It is safe to run again after a failure at any point.`;

const exitCodeHelp = `
Exit codes:
  0   done: the version is published, by this run or an earlier one of the same files
  2   the command line, the folder or the URL is not valid; nothing was published
  3   the registry rejected the publish; nothing was published
  4   the registry rejected the archive; change the files and run again
  5   the network or the registry failed, or the upload is still being checked; run again
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
    .addHelpText('after', '\nEach command has its own --help.');
  addPublish(program, act);
  addPack(program, act);
  addStatus(program, act);
  addWhoami(program, act);
  addWithdraw(program, act, 'withdraw');
  addWithdraw(program, act, 'restore');
  addDeprecate(program, act);
  addReading(program, act);
  addInit(program, act);
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
  process.exitCode = await run(args).catch((error: unknown) => {
    say(...(error instanceof Error ? String(error.stack) : String(error)).split('\n'));
    return exitCodes.internal;
  });
}

function addPublish(program: Command, act: Act): void {
  const command = program
    .command('publish')
    .summary('zip a folder, publish it, upload it, and wait until it can be downloaded')
    .description(about.replaceAll('\n', ' '));
  identityOptions(packOptions(command))
    .addOption(changelogOption())
    .option('--changelog-file <path>', 'A file with what is new in this version')
    .option('--timeout <seconds>', 'How long to wait for the upload to be checked', positiveNumber, 120)
    .option('--dry-run', 'Only show what would be published')
    .option('--github', 'For a step of GitHub Actions: set its outputs, write a summary and an annotation')
    .option('--json', 'Print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  publish-node publish --dry-run
  publish-node publish my-node --publisher me
  publish-node publish --changelog 'Loads twice as fast'
  publish-node publish --include web/dist --allow tests/data/key.pem
${exitCodeHelp}`,
    )
    .action((folder: string, { timeout, include = [], allow = [], dryRun = false, ...others }) => {
      const flags = { ...others, metadata: metadataOf(others), include, allow, dryRun };
      return act(others, (mean) => publishCommand(folder, { ...flags, timeoutMs: timeout * 1000 }, mean));
    });
}

function addPack(program: Command, act: Act): void {
  const command = program
    .command('pack')
    .summary('write the archive that would be published, to look at it')
    .description('Writes the archive that publish would upload, byte for byte, and sends nothing.');
  packOptions(command)
    .option('--output <file>', 'Where to write it; NODE-VERSION.zip in the current folder by default')
    .option('--json', 'Print the result as JSON')
    .action((folder: string, { include = [], allow = [], ...others }) =>
      act(others, (mean) =>
        packCommand(folder, { ...others, metadata: metadataOf(others), include, allow }, mean),
      ),
    );
}

function addStatus(program: Command, act: Act): void {
  const command = program
    .command('status')
    .summary('show whether a version is published, and if not, why')
    .description('Shows whether a version is published, and if not, why. It needs no token.');
  metadataOptions(command)
    .addOption(baseUrlOption())
    .option('--json', 'Print the result as JSON')
    .action((folder: string, { baseUrl, ...options }) =>
      act(options, (mean) => statusCommand(folder, { metadata: metadataOf(options), baseUrl }, mean)),
    );
}

function addWhoami(program: Command, act: Act): void {
  const command = program
    .command('whoami')
    .summary('show what your tokens may do for a publisher and a node')
    .description(
      'Asks the registry for two changes that it can only reject, and shows what the rejections reveal: whether the tokens may publish, and whether they may change the node. Nothing changes.',
    );
  identityOptions(metadataOptions(command))
    .option('--json', 'Print the result as JSON')
    .action((folder: string, options) =>
      act(options, (mean) => whoamiCommand(folder, { ...options, metadata: metadataOf(options) }, mean)),
    );
}

function addWithdraw(program: Command, act: Act, name: 'withdraw' | 'restore'): void {
  const withdraws = name === 'withdraw';
  const summary = withdraws
    ? 'remove a node of yours from every list; its versions stay downloadable'
    : 'put a withdrawn node of yours back';
  const command = program
    .command(name)
    .summary(summary)
    .description(
      `${summary.charAt(0).toUpperCase()}${summary.slice(1)}. It needs the access token of an owner.`,
    );
  metadataOptions(command)
    .option('--reason <text>', 'The reason, shown with the node')
    .option('--access-token <token>', 'An access token of an owner; better in NODE_REGISTRY_ACCESS_TOKEN')
    .addOption(baseUrlOption())
    .addOption(allowHttpOption())
    .option('--json', 'Print the result as JSON')
    .action((folder: string, options) =>
      act(options, (mean) =>
        withdrawCommand(folder, { ...options, metadata: metadataOf(options), withdraws }, mean),
      ),
    );
}

function addDeprecate(program: Command, act: Act): void {
  const command = program
    .command('deprecate')
    .summary('mark a published version as deprecated, or take that back')
    .description('Changes a published version. Its bytes stay downloadable.')
    .argument('<node>', 'The node')
    .argument('<version>', 'The version')
    .option('--publisher <id>', 'The publisher; by default that of the pyproject.toml here');
  identityOptions(command)
    .option('--undo', 'Take it back')
    .option('--changelog <text>', 'A new text on what is new in this version, such as why it is deprecated')
    .option('--json', 'Print the result as JSON')
    .action((node: string, version: string, options) =>
      act(options, (mean) => deprecateCommand(node, version, options, mean)),
    );
}

/** What anyone may ask, without a token and from any folder. */
function addReading(program: Command, act: Act): void {
  const reading = (name: string, summary: string) =>
    program
      .command(name)
      .summary(summary)
      .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}. It needs no token.`)
      .addOption(baseUrlOption())
      .addOption(downloadsUrlOption())
      .option('--json', 'Print the result as JSON');
  reading(
    'search <words...>',
    'find nodes by words of their ID, name, description, tags, publisher or host nodes',
  ).action((words: string[], options) => act(options, () => searchCommand(words.join(' '), options)));
  reading('versions <node>', 'list the published versions of a node').action((node: string, options) =>
    act(options, (mean) => versionsCommand(node, options, mean)),
  );
  reading('show <node[@version]>', 'show a node, a version and its host nodes').action(
    (text: string, options) => act(options, (mean) => showCommand(text, options, mean)),
  );
  reading('download <node[@version]>', 'download a version and verify its bytes')
    .addOption(
      new Option(
        '--output <file>',
        'Where to write it; NODE-VERSION.zip in the current folder by default',
      ).conflicts('unpack'),
    )
    .option('--unpack <folder>', 'Unpack it into this new folder instead, by the rules for archives')
    .action((text: string, options) => act(options, (mean) => downloadCommand(text, options, mean)));
}

function addInit(program: Command, act: Act): void {
  const command = program
    .command('init')
    .summary('write the tables that publishing needs into pyproject.toml')
    .description('Adds what pyproject.toml lacks, and leaves what it has unchanged.');
  metadataOptions(command)
    .option('--display-name <text>', 'The name for people')
    .option('--description <text>', 'What the node does')
    .action((folder: string, options) => act({}, () => initCommand(folder, metadataOf(options))));
}

function packOptions(command: Command): Command {
  return metadataOptions(command)
    .option('--display-name <text>', 'The name for people; [tool.node-registry] display-name')
    .option('--description <text>', 'What the node does; [project] description')
    .option('--other-version', 'Publish --version although pyproject.toml names another one')
    .option('--include <path>', 'Publish it although it is ignored; may be repeated', collect)
    .option('--allow <path>', 'Publish it although it looks like a secret; may be repeated', collect);
}

/** The options of every command that sends tokens. */
function identityOptions(command: Command): Command {
  return command
    .addOption(new Option('--identity <who>', 'Who publishes').choices(identities).default('auto'))
    .option('--token <token>', 'A personal access token; better in NODE_REGISTRY_TOKEN')
    .option(
      '--access-token <token>',
      'An access token, if the registry requires one; better in NODE_REGISTRY_ACCESS_TOKEN',
    )
    .option('--audience <text>', "Audience of the ID token; the registry's address by default")
    .addOption(baseUrlOption())
    .addOption(allowHttpOption());
}

function allowHttpOption(): Option {
  return new Option('--allow-http', 'Send tokens without encryption, in a closed network');
}

function metadataOptions(command: Command): Command {
  return command
    .argument('[folder]', 'The folder', '.')
    .option('--publisher <id>', 'The publisher; [tool.node-registry] publisher')
    .option('--node <id>', 'The node; [project] name')
    .option('--version <label>', 'The version; [project] version');
}

function changelogOption(): Option {
  return new Option('--changelog <text>', 'What is new in this version').conflicts('changelogFile');
}

function collect(path: string, others: string[] = []): string[] {
  return [...others, path];
}

interface MetadataOptions {
  publisher?: string;
  node?: string;
  version?: string;
  displayName?: string;
  description?: string;
  changelog?: string;
}

function metadataOf(options: MetadataOptions): MetadataOptions {
  const { publisher, node, version, displayName, description, changelog } = options;
  const named = { publisher, node, version, displayName, description, changelog };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

function baseUrlOption(): Option {
  return new Option('--base-url <url>', 'The registry')
    .env('NODE_REGISTRY_URL')
    .default('http://localhost:3000')
    .argParser(address);
}

function downloadsUrlOption(): Option {
  return new Option(
    '--downloads-url <url>',
    'Where the registry serves its files; not needed if you name a version',
  )
    .env('NODE_REGISTRY_DOWNLOADS_URL')
    .argParser(address);
}

function address(value: string): string {
  if (!isWebAddress(value)) throw new InvalidArgumentError('It must be an http or https URL.');
  return value.replace(/\/+$/, '');
}

function positiveNumber(text: string): number {
  if (Number(text) > 0 && Number.isFinite(Number(text))) return Number(text);
  throw new InvalidArgumentError('It must be a number above 0.');
}
