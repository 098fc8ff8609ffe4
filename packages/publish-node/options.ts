import { positiveNumber, requireValue } from '@node-registry/command-line/command';
import { isWebAddress } from '@node-registry/registry-rules/web-address';
import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod/mini';
import { identities } from './identity.ts';
import type { Metadata } from './pyproject.ts';

/* The options that several commands have. */

export const option = (flags: string, about = '') => new Option(flags, about);

/** May be repeated. */
export const listed = (flags: string, about: string) =>
  option(flags, `${about}; may be repeated`).argParser((each: string, others: string[] = []) => [
    ...others,
    each,
  ]);

const address = (value: string) => {
  if (!isWebAddress(value)) throw new InvalidArgumentError('It must be an http or https URL.');
  return value.replace(/\/+$/, '');
};

export const json = option('--json', 'Print the result as JSON');
export const baseUrl = option('--base-url <url>', 'The registry')
  .env('NODE_REGISTRY_URL')
  .default('http://localhost:3000')
  .argParser(address);
const allowHttp = option('--allow-http', 'Send tokens without encryption, in a closed network');

export const output = option(
  '--output <file>',
  'Where to write it; NODE-VERSION.zip in the current folder by default',
).argParser(requireValue);

/** Of a command on a folder: names come from its pyproject.toml, unless an option gives them. */
export const folder = [
  option('--publisher <id>', 'The publisher; [tool.node-registry] publisher'),
  option('--node <id>', 'The node; [project] name'),
];
export const version = option('--version <label>', 'The version; [project] version');
export const texts = [
  option('--display-name <text>', 'The name for people; [tool.node-registry] display-name'),
  option('--description <text>', 'What the node does; [project] description'),
];

export const pack = [
  ...[...folder, version, ...texts],
  option('--other-version', 'Publish --version although pyproject.toml names another one'),
  listed('--include <path>', 'Publish it although it is ignored'),
  listed('--allow <path>', 'Publish it although it looks like a secret, or imports what is left out'),
];

export const identity = [
  option('--identity <who>', 'Who publishes').choices(identities).default('auto'),
  option('--token <token>', 'A personal access token; better in NODE_REGISTRY_TOKEN'),
  option(
    '--access-token <token>',
    'An access token, if the registry requires one; better in NODE_REGISTRY_ACCESS_TOKEN',
  ),
  option('--audience <text>', "Audience of the ID token; the registry's address by default"),
  ...[baseUrl, allowHttp, json],
];

export const owner = [
  option('--access-token <token>', 'An access token of an owner; better in NODE_REGISTRY_ACCESS_TOKEN'),
  ...[baseUrl, allowHttp, json],
];
export const publisher = option('--publisher <id>', 'The publisher; default: from the pyproject.toml here');
export const days = option('--days <number>', 'For how many days it works')
  .argParser(positiveNumber)
  .default(90);

/** Of a command that only reads. */
export const reading = [
  baseUrl,
  option('--downloads-url <url>', 'Where the registry serves its files; not needed if you name a version')
    .env('NODE_REGISTRY_DOWNLOADS_URL')
    .argParser(address),
  json,
];

export function metadataOf(flags: Metadata): Metadata {
  const names = [
    ...(['publisher', 'node', 'version', 'displayName', 'description', 'changelog'] as const),
    ...(['icon', 'banner', 'tags', 'repository', 'license'] as const),
  ];
  return Object.fromEntries(
    names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
  );
}

type Fields = Record<string, z.ZodMiniType>;

/** The option for a field of a request: `--job-workflow` for `job_workflow`, `--node` for `node_id`. */
function optionFor(field: string, schema?: z.ZodMiniType): Option {
  const about = schema && z.globalRegistry.get(schema)?.description;
  return option(`--${field.replace(/_id$/, '').replaceAll('_', '-')} <text>`, about);
}

export function fieldOptions(fields: Fields): Option[] {
  return Object.entries(fields).map(([field, schema]) => optionFor(field, schema));
}

export function fieldsIn(fields: Fields, flags: object): Record<string, string> {
  const given = new Map(Object.entries(flags));
  const said = Object.keys(fields).map((field) => [field, given.get(optionFor(field).attributeName())]);
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}
