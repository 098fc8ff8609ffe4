import { type Command, InvalidArgumentError, Option } from 'commander';
import { createCommand, positiveNumber, runCommand } from '../command-line/command.ts';
import manifest from './package.json' with { type: 'json' };
import { exitCodes } from './failure.ts';
import { identities } from './identity.ts';
import { initCommand } from './init-command.ts';
import { end, type Mean, printReport } from './output.ts';
import { publishCommand } from './publish-command.ts';
import { statusCommand } from './status-command.ts';
import { isWebAddress } from './web-address.ts';

const notes = `In a git repository it publishes the files that git tracks, and new ones that no .gitignore names;
elsewhere all that no .gitignore names. A .publishignore leaves out more; "includes" in pyproject.toml and --include
bring back what is built. Files that look like secrets are refused unless they are allowed by name. In GitHub Actions
and GitLab the job itself publishes, with an ID token and no stored secret; elsewhere the holder of a personal access
token in NODE_REGISTRY_TOKEN.`;

const exitCodeHelp = `
Exit codes:
  0  done: the version is published, by this run or an earlier one of the same files
  2  the command line, the folder or the address is not right; nothing was published
  3  the registry refused to publish; nothing was published
  4  the registry refused the archive; change the files and run again
  5  the network or the registry failed, or the upload is still being checked; run again
  70 a bug of this command; report what it printed`;

/** What is wrong with a command line, for the report that --json asks for. */
let mistake = '';

const output = {
  stdout: process.stdout,
  stderr: {
    write: (text: string) => {
      mistake += text;
      return process.stderr.write(text);
    },
  },
};

/** Runs a command line and returns its exit code. */
async function run(args: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.done;
  const act: Act = async (json, work) => {
    exitCode = await end(json, work);
  };
  const about = {
    name: 'publish-node',
    summary: 'Publishes a folder as a version of a node',
    notes: 'Safe to run again after a failure at any point.',
    examples: ['init --publisher me', 'publish --dry-run', 'publish', 'status'],
  };
  const program = createCommand(about, output)
    .version(manifest.version, '-V, --cli-version', 'Print the version of this command')
    .addCommand(publishSubcommand(act), { isDefault: true })
    .addCommand(statusSubcommand(act))
    .addCommand(initSubcommand(act));
  const status = await runCommand(program, args);
  if (status !== 0 && args.includes('--json')) printReport({ error: 'usage', message: mistake.trim() });
  return status || exitCode;
}

/** Runs a command line to the exit code of this process; what nobody foresaw shows its stack. */
export async function runToExitCode(args: readonly string[]): Promise<void> {
  process.exitCode = await run(args).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    return exitCodes.internal;
  });
}

type Act = (json: boolean, work: (mean: Mean) => Promise<number>) => Promise<void>;

function publishSubcommand(act: Act): Command {
  const about = {
    name: 'publish',
    summary: 'Zip a folder, publish it, upload it, and wait until it can be downloaded',
    notes,
    examples: [
      'publish --dry-run',
      'publish my-node --publisher me',
      "publish --version 1.2.0 --changelog 'Loads twice as fast'",
      'publish --include web/dist --allow tests/data/key.pem',
    ],
  };
  const command = createCommand(about, output);
  return metadataOptions(command)
    .argument('[folder]', 'The folder', '.')
    .option('--display-name <text>', 'The name for people; [tool.node-registry] display-name')
    .option('--description <text>', 'What the node does; [project] description')
    .option('--changelog <text>', 'What is new in this version')
    .option('--include <path>', 'Publish it although it is ignored; may be repeated', collect)
    .option('--allow <path>', 'Publish it although it looks like a secret; may be repeated', collect)
    .addOption(new Option('--identity <who>', 'Who publishes').choices(identities).default('auto'))
    .option('--token <token>', 'A personal access token; better in NODE_REGISTRY_TOKEN')
    .option('--access-token <token>', 'Where the registry asks for one too; or NODE_REGISTRY_ACCESS_TOKEN')
    .option('--audience <text>', "Whom an ID token is for; the registry's address by default")
    .addOption(baseUrlOption())
    .option('--timeout <seconds>', 'How long to wait for the upload to be checked', positiveNumber, 120)
    .option('--dry-run', 'Only say what would be published')
    .option('--json', 'Print the result as JSON')
    .addHelpText('after', exitCodeHelp)
    .action(
      (folder: string, { timeout, include = [], allow = [], dryRun = false, json = false, ...others }) => {
        const flags = { ...others, metadata: metadataOf(others), include, allow, dryRun, json };
        return act(json, (mean) => publishCommand(folder, { ...flags, timeoutMs: timeout * 1000 }, mean));
      },
    );
}

function statusSubcommand(act: Act): Command {
  const about = {
    name: 'status',
    summary: 'Say whether a version is published, and if not, why',
    examples: ['status', 'status --node my-node --version 1.2.0'],
  };
  const command = createCommand(about, output);
  return metadataOptions(command)
    .argument('[folder]', 'The folder', '.')
    .addOption(baseUrlOption())
    .option('--json', 'Print the result as JSON')
    .action((folder: string, { baseUrl, json = false, ...options }) =>
      act(json, (mean) => statusCommand(folder, { metadata: metadataOf(options), baseUrl, json }, mean)),
    );
}

function initSubcommand(act: Act): Command {
  const about = {
    name: 'init',
    summary: 'Write the tables that publishing needs into pyproject.toml',
    examples: ["init --publisher me --display-name 'My Node'"],
  };
  const command = createCommand(about, output);
  return metadataOptions(command)
    .argument('[folder]', 'The folder', '.')
    .option('--display-name <text>', 'The name for people')
    .option('--description <text>', 'What the node does')
    .action((folder: string, options) => act(false, () => initCommand(folder, metadataOf(options))));
}

function collect(path: string, others: string[] = []): string[] {
  return [...others, path];
}

function metadataOptions(command: Command): Command {
  return command
    .option('--publisher <id>', 'The publisher; [tool.node-registry] publisher')
    .option('--node <id>', 'The node; [project] name')
    .option('--version <label>', 'The version; [project] version');
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
    .argParser((value) => {
      if (!isWebAddress(value)) throw new InvalidArgumentError('It is not an http or https address.');
      return value.replace(/\/+$/, '');
    });
}
