import { type Command, InvalidArgumentError, Option } from 'commander';
import { isWebAddress } from '@node-registry/registry-rules/web-address';
import * as z from 'zod/mini';
import { identities } from './identity.ts';
import type { Metadata } from './pyproject.ts';

export const version = ['--version <label>', 'The version; [project] version'] as const;
export const json = ['--json', 'Print the result as JSON'] as const;

export function packOptions(command: Command): Command {
  return command
    .option(...version)
    .option('--display-name <text>', 'The name for people; [tool.node-registry] display-name')
    .option('--description <text>', 'What the node does; [project] description')
    .option('--other-version', 'Publish --version although pyproject.toml names another one')
    .option('--include <path>', 'Publish it although it is ignored; may be repeated', collect)
    .option(
      '--allow <path>',
      'Publish it although it looks like a secret, or imports what is left out; may be repeated',
      collect,
    );
}

export function identityOptions(command: Command): Command {
  return command
    .addOption(new Option('--identity <who>', 'Who publishes').choices(identities).default('auto'))
    .option('--token <token>', 'A personal access token; better in NODE_REGISTRY_TOKEN')
    .option(
      '--access-token <token>',
      'An access token, if the registry requires one; better in NODE_REGISTRY_ACCESS_TOKEN',
    )
    .option('--audience <text>', "Audience of the ID token; the registry's address by default")
    .addOption(baseUrlOption())
    .addOption(allowHttpOption())
    .option(...json);
}

function allowHttpOption(): Option {
  return new Option('--allow-http', 'Send tokens without encryption, in a closed network');
}

export function outputOption(): Option {
  return new Option(
    '--output <file>',
    'Where to write it; NODE-VERSION.zip in the current folder by default',
  );
}

export function ownerOptions(command: Command): Command {
  return command
    .option('--access-token <token>', 'An access token of an owner; better in NODE_REGISTRY_ACCESS_TOKEN')
    .addOption(baseUrlOption())
    .addOption(allowHttpOption())
    .option(...json);
}

export function collect(path: string, others: string[] = []): string[] {
  return [...others, path];
}

export function metadataOf(flags: Metadata): Metadata {
  const names = [
    ...(['publisher', 'node', 'version', 'displayName', 'description', 'changelog'] as const),
    ...(['icon', 'banner', 'tags', 'repository', 'license'] as const),
  ];
  return Object.fromEntries(
    names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
  );
}

export function baseUrlOption(): Option {
  return new Option('--base-url <url>', 'The registry')
    .env('NODE_REGISTRY_URL')
    .default('http://localhost:3000')
    .argParser(address);
}

export function downloadsUrlOption(): Option {
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

type Fields = Record<string, z.ZodMiniType>;

/** The option for a field of a request: `--job-workflow` for `job_workflow`, `--node` for `node_id`. */
function optionFor(field: string, about = ''): Option {
  return new Option(`--${field.replace(/_id$/, '').replaceAll('_', '-')} <text>`, about);
}

export function fieldOptions(command: Command, fields: Fields): void {
  for (const [field, schema] of Object.entries(fields))
    command.addOption(optionFor(field, z.globalRegistry.get(schema)?.description));
}

export function fieldsIn(fields: Fields, flags: object): Record<string, string> {
  const given = new Map(Object.entries(flags));
  const said = Object.keys(fields).map((field) => [field, given.get(optionFor(field).attributeName())]);
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}
