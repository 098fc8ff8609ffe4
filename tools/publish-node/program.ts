import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import manifest from './package.json' with { type: 'json' };
import { exitCodes } from './failure.ts';
import { identities } from './identity.ts';
import { initCommand } from './init-command.ts';
import { end } from './output.ts';
import { publishCommand } from './publish-command.ts';
import { statusCommand } from './status-command.ts';
import { isWebAddress } from './web-address.ts';

const exitCodeHelp = `
Exit codes:
  0  done: the version is published, by this run or an earlier one of the same files
  2  the command line or the folder is not right; nothing was sent
  3  the registry refused to publish; nothing was published
  4  the registry refused the archive; change the files and run again
  5  the network or the registry failed, or the upload is still being checked; run again
`;

const publishHelp = `
Which files: in a git repository those that git tracks, and new ones that no .gitignore names; elsewhere all that no
.gitignore names. A .publishignore leaves out more; "includes" in pyproject.toml and --include bring back what is
built. Files that look like secrets are refused unless they are allowed by name.

Who publishes: in GitHub Actions and GitLab the job itself, with an ID token and no stored secret; elsewhere the
holder of a personal access token in NODE_REGISTRY_TOKEN.

Examples:
  $ publish-node publish --dry-run              see what would be published from this folder
  $ publish-node publish my-node --publisher me
  $ publish-node publish --version 1.2.0 --changelog 'Loads twice as fast'
  $ publish-node publish --include web/dist --allow tests/data/key.pem
${exitCodeHelp}`;

/** Runs a command line and returns its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = new Command('publish-node')
    .description('Publishes a folder as a version of a node. Safe to run again after a failure at any point.')
    .version(manifest.version, '-V, --cli-version', 'print the version of this command')
    .showHelpAfterError('Run publish-node --help to see how it is used.')
    .exitOverride();
  const act = (json: boolean, work: () => Promise<number>) =>
    end(json, work).then((code) => {
      exitCode = code;
    });

  metadataOptions(program.command('publish', { isDefault: true }))
    .description('Zip a folder, publish it, upload it, and wait until it can be downloaded.')
    .argument('[folder]', 'the folder', '.')
    .option('--display-name <text>', 'the name for people; [tool.node-registry] display-name')
    .option('--description <text>', 'what the node does; [project] description')
    .option('--changelog <text>', 'what is new in this version')
    .option('--include <path>', 'publish it although it is ignored; may be repeated', collect, [])
    .option('--allow <path>', 'publish it although it looks like a secret; may be repeated', collect, [])
    .addOption(new Option('--identity <who>', 'who publishes').choices(identities).default('auto'))
    .option('--token <token>', 'a personal access token; better in NODE_REGISTRY_TOKEN')
    .option('--access-token <token>', 'where the registry asks for one too; or NODE_REGISTRY_ACCESS_TOKEN')
    .option('--audience <text>', "whom an ID token is for; the registry's address by default")
    .addOption(baseUrlOption())
    .option('--timeout <seconds>', 'how long to wait for the upload to be checked', seconds, 120)
    .option('--dry-run', 'only say what would be published', false)
    .option('--json', 'print the result as JSON', false)
    .addHelpText('after', publishHelp)
    .action((folder: string, { timeout, ...options }) =>
      act(options.json, () =>
        publishCommand(folder, {
          ...options,
          metadata: metadataOf(options),
          timeoutMs: timeout * 1000,
        }),
      ),
    );

  metadataOptions(program.command('status'))
    .description('Say whether a version is published, and if not, why.')
    .argument('[folder]', 'the folder', '.')
    .addOption(baseUrlOption())
    .option('--json', 'print the result as JSON', false)
    .addHelpText('after', '\nExample:\n  $ publish-node status --node my-node --version 1.2.0\n')
    .action((folder: string, { baseUrl, json, ...options }) =>
      act(json, () => statusCommand(folder, { metadata: metadataOf(options), baseUrl, json })),
    );

  metadataOptions(program.command('init'))
    .description('Write the tables that publishing needs into pyproject.toml.')
    .argument('[folder]', 'the folder', '.')
    .option('--display-name <text>', 'the name for people')
    .option('--description <text>', 'what the node does')
    .addHelpText('after', "\nExample:\n  $ publish-node init --publisher me --display-name 'My Node'\n")
    .action((folder: string, options) => act(false, () => initCommand(folder, metadataOf(options))));

  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
  return exitCode;
}

function collect(path: string, others: string[]): string[] {
  return [...others, path];
}

function metadataOptions(command: Command): Command {
  return command
    .option('--publisher <id>', 'the publisher; [tool.node-registry] publisher')
    .option('--node <id>', 'the node; [project] name')
    .option('--version <label>', 'the version; [project] version');
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
  return new Option('--base-url <url>', 'the registry')
    .env('NODE_REGISTRY_URL')
    .default('http://localhost:3000')
    .argParser((value) => {
      if (!isWebAddress(value)) throw new InvalidArgumentError('It is not an http or https address.');
      return value.replace(/\/+$/, '');
    });
}

function seconds(value: string): number {
  if (!(Number(value) > 0)) throw new InvalidArgumentError('It takes a number of seconds.');
  return Number(value);
}
