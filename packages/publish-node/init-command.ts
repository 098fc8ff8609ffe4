import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { PublisherId } from '@node-registry/registry-rules/names';
import { parse } from 'smol-toml';
import { confirm } from '@node-registry/command-line/confirm';
import { type Address, connectWithTokens } from './connect.ts';
import { Failure, throwAll } from './failure.ts';
import { gitFoldersOf, workTreeOf } from './files/git-folders.ts';
import { ownSetting } from './files/git-settings.ts';
import { readOwnFile, statsOf } from './files/own-file.ts';
import { explainAccount } from './account-commands.ts';
import { write } from './new-file.ts';
import type { Ending } from './output.ts';
import { requireFolder } from './project.ts';
import type { Metadata } from './pyproject.ts';
import { readPyProject } from './pyproject.ts';
import { readRequirements } from './requirements.ts';
import { sessionToken } from './session.ts';

interface InitFlags extends Address {
  metadata: Metadata;
}

/** Adds missing tables after the content of pyproject.toml, which stays unchanged to the byte. */
export async function initCommand(
  folder: string,
  { metadata: flags, ...address }: InitFlags,
): Promise<Ending> {
  const root = await requireFolder(folder);
  const path = join(root, 'pyproject.toml');
  const stats = statsOf(path);
  // It would write to the end of the link.
  if (stats && !stats.isFile())
    throw new Failure('usage', `${path} is not a plain file. Put one in its place.`);
  const { metadata: known, failures } = await readPyProject(root);
  throwAll(failures);
  const before = (await readOwnFile(root, 'pyproject.toml'))?.content.toString() ?? '';
  const { project, tool } = tablesOf(before);
  if (tool?.['node-registry'] !== undefined) {
    throw new Failure('usage', `${path} has a [tool.node-registry] table already. Change it there.`);
  }
  const publisher = flags.publisher ?? known.publisher;
  if (publisher === undefined) throw new Failure('usage', 'Name the publisher: --publisher ID.');
  if (!PublisherId.safeParse(publisher).success) {
    throw new Failure(
      'usage',
      `"${publisher}" is not a publisher ID: 1 to 100 letters, digits, ".", "_" or "-".`,
    );
  }
  const tables = [
    ...(project === undefined ? await projectTable(folder, root, flags) : []),
    '[tool.node-registry]',
    entry('publisher', publisher),
    entry('display-name', flags.displayName ?? known.displayName ?? basename(resolve(folder))),
  ];
  await write(path, addition(path, before, `${tables.join('\n')}\n`), stats?.size);
  const needed = Object.entries({ name: known.node, version: known.version })
    .filter(([, value]) => project !== undefined && !value)
    .map(([field]) => `Its [project] table still needs a ${field}.`);
  const next = `Wrote ${path}. See what would be published: publish-node publish ${folder} --dry-run`;
  const offered = await offerPublisher(publisher, address);
  const report = { status: 'written', publisher, notes: [...needed, ...(known.notes ?? []), ...offered] };
  return { report, lines: [next, ...report.notes] };
}

/** For a person who is signed in, the publisher too, if nobody has its id yet. */
async function offerPublisher(id: string, address: Address): Promise<string[]> {
  const accessToken = sessionToken(address.baseUrl, process.env);
  if (!accessToken) return [];
  const { account } = connectWithTokens(address, accessToken);
  const isFree = await account('validatePublisher', { query: { username: id } }).then(
    () => true,
    () => false,
  );
  if (!isFree) return [];
  const isWanted =
    process.stdin.isTTY === true &&
    (await confirm(`There is no publisher ${id} yet. Make it?`, process.stdin, process.stderr));
  if (!isWanted) return [`There is no publisher ${id} yet. Make it: publish-node publisher create ${id}`];
  await account('createPublisher', { body: { id, name: id } }).catch(explainAccount(''));
  return [`You are the owner of the publisher ${id} now.`];
}

interface Tables {
  project?: unknown;
  tool?: { 'node-registry'?: unknown };
}

/** A table can be written in many ways, so only the parser knows which ones exist. */
function tablesOf(content: string): Tables {
  return parse(content.replace(/^\uFEFF/, ''));
}

/** What follows the content. That isn't valid TOML if `tool` is an inline table, which can't be extended. */
function addition(path: string, before: string, added: string): string {
  const gap = before === '' ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  try {
    tablesOf(`${before}${gap}${added}`);
  } catch (cause) {
    const problems = added
      .trimEnd()
      .split('\n')
      .map((line, index) => ({ path: `line ${index + 1}`, message: line }));
    const sentence = `${path} cannot be extended automatically. Write the tables there yourself.`;
    throw new Failure('usage', sentence, { cause, problems });
  }
  return `${gap}${added}`;
}

async function projectTable(folder: string, root: string, flags: Metadata): Promise<string[]> {
  const license = ['LICENSE', 'LICENSE.txt', 'LICENSE.md'].find((name) => existsSync(join(root, name)));
  const repository = await originOf(root);
  const requirements = await readRequirements(root);
  return [
    '[project]',
    entry('name', flags.node ?? nodeIdFrom(basename(resolve(folder)))),
    entry('version', flags.version ?? '1.0.0'),
    ...(flags.description ? [entry('description', flags.description)] : []),
    ...(license ? [`license = { file = ${JSON.stringify(license)} }`] : []),
    ...(requirements === undefined
      ? ['# dependencies = []    # unknown: an empty list means that there are none']
      : ['dependencies = [', ...requirements.map((line) => `  ${JSON.stringify(line)},`), ']']),
    '',
    ...(repository ? ['[project.urls]', entry('Repository', repository), ''] : []),
  ];
}

/** JSON's strings are also strings of TOML. */
function entry(key: string, value: string): string {
  return `${key} = ${JSON.stringify(value)}`;
}

function nodeIdFrom(name: string): string {
  return (
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
      .slice(0, 100) || 'my-node'
  );
}

/** The https URL that the folder is pushed to, if its repository itself names one. */
async function originOf(root: string): Promise<string | undefined> {
  const top = workTreeOf(root);
  if (top === undefined) return undefined;
  const named = async () => ownSetting(await gitFoldersOf(top), 'remote.origin.url');
  const address = (await named().catch(() => undefined)) ?? '';
  const [, host, path] =
    /^(?:https:\/\/(?:[^@/]*@)?|(?:ssh:\/\/)?git@)([^/:\s]+)[/:](\S+?)(?:\.git)?\s*$/.exec(address) ?? [];
  return host === undefined ? undefined : `https://${host}/${path}`;
}
