import { parseArgs } from 'node:util';
import { Failure } from './failure.ts';
import type { Metadata } from './project.ts';

export const help = `Usage: npm run publish-node -- FOLDER [options]

Zips a folder (what its .gitignore files leave), publishes it as a node version, uploads it, and waits until it
can be downloaded. Safe to run again after a failure at any point: it resumes, or says that the version is
already there. The same files always give the same zip.

What is published comes from the folder's pyproject.toml, or from these options, which go before it:
  --publisher ID          the publisher              [tool.node-registry] publisher
  --node ID               the node                   [project] name
  --version LABEL         the version                [project] version
  --display-name TEXT     the node's name for people [tool.node-registry] display-name
  --description TEXT      what the node does         [project] description
  --changelog TEXT        what is new in this version
Dependencies and the repository's address are taken from [project] too.

Who publishes, and where:
  --token TOKEN           a personal access token of the publisher; or set NODE_REGISTRY_TOKEN
  --access-token TOKEN    an access token, where the registry asks for one; or set NODE_REGISTRY_ACCESS_TOKEN
  --base-url URL          the registry; or set NODE_REGISTRY_URL; http://localhost:3000 by default
  --timeout SECONDS       how long to wait for the upload to be checked; 120 by default
  --dry-run               only say what would be published
  --help                  show this text

Exit codes:
  0  the version is published, by this run or an earlier one of the same files
  2  the command line or the folder is not right
  3  the registry refused to publish; nothing was published
  4  the registry refused the archive; mend the files and run again
  5  the network or the registry failed, or the upload is still being checked; run again
`;

export interface Options {
  folder: string;
  flags: Metadata;
  token: string;
  accessToken: string | undefined;
  baseUrl: string;
  timeoutMs: number;
  dryRun: boolean;
}

const text = { type: 'string' } as const;
const standardTimeoutSeconds = 120;

/** What a command line asks for; undefined where it asks for help. */
export function parseCommandLine(args: string[], environment: NodeJS.ProcessEnv): Options | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length > 0) throw new Failure('usage', 'Name one folder.');
  const token = values.token ?? environment.NODE_REGISTRY_TOKEN ?? '';
  if (token === '' && !values['dry-run']) {
    throw new Failure('usage', 'Give a personal access token: --token TOKEN, or NODE_REGISTRY_TOKEN.');
  }
  const seconds = Number(values.timeout ?? standardTimeoutSeconds);
  if (!(seconds > 0)) throw new Failure('usage', '--timeout takes a number of seconds.');
  return {
    folder,
    flags: {
      publisher: values.publisher,
      node: values.node,
      version: values.version,
      displayName: values['display-name'],
      description: values.description,
      changelog: values.changelog,
    },
    token,
    accessToken: values['access-token'] ?? environment.NODE_REGISTRY_ACCESS_TOKEN,
    baseUrl: requireUrl(values['base-url'] ?? environment.NODE_REGISTRY_URL ?? 'http://localhost:3000'),
    timeoutMs: seconds * 1000,
    dryRun: values['dry-run'] ?? false,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        publisher: text,
        node: text,
        version: text,
        'display-name': text,
        description: text,
        changelog: text,
        token: text,
        'access-token': text,
        'base-url': text,
        timeout: text,
        'dry-run': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new Failure('usage', error instanceof Error ? error.message : String(error));
  }
}

function requireUrl(value: string): string {
  const url = URL.parse(value);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new Failure('usage', `"${value}" is not an http or https address.`);
  }
  return value.replace(/\/+$/, '');
}
