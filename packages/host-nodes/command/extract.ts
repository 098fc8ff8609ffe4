// npm run extract -- --packs DIR
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { extractHostNodes, type Extraction } from '../extract-host-nodes.ts';
import type { Files } from '../files.ts';
import { decodeText, textFilesIn } from '../text-files.ts';

const maxLines = 40;

const command = new Command('npm run extract --')
  .description(
    'Extracts the host nodes of a folder of packs, without running them. A folder is named after its repository, with + for the slash.',
  )
  .option('--packs <DIR>', 'Required: a folder with one folder for each pack')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .action(extractAll);

async function extractAll({ packs = '' }: { packs?: string }): Promise<void> {
  if (packs === '') command.error('Name a folder with --packs. See npm run extract -- --help');
  const entries = await readdir(packs, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isFile()).map(({ name }) => name);
  if (names.length === 0) command.error(`There is no folder in ${packs}. See npm run extract -- --help`);
  let nodes = 0;
  const seconds: number[] = [];
  for (const name of names.sort()) {
    const files = await readPack(join(packs, name));
    const started = process.cpuUsage();
    const extraction = extractHostNodes(files, { name: name.slice(name.indexOf('+') + 1) });
    const { user, system } = process.cpuUsage(started);
    seconds.push((user + system) / 1e6);
    nodes += extraction.nodes.length;
    print(
      `${name}: ${extraction.status}, ${extraction.nodes.length} nodes, ${extraction.steps} steps, ${seconds.at(-1)?.toFixed(2)} s`,
    );
    printDetails(extraction);
  }
  seconds.sort((a, b) => a - b);
  print(
    `${names.length} packs, ${nodes} nodes; CPU median ${seconds[seconds.length >> 1]?.toFixed(2)} s, worst ${seconds.at(-1)?.toFixed(2)} s`,
  );
}

/** A folder's files, with the content of text files, as the registry reads an archive's. */
async function readPack(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sizes = await Promise.all(paths.map(async (path) => ({ path, bytes: (await stat(path)).size })));
  const chosen = textFilesIn(sizes);
  const files = new Map<string, string | undefined>();
  for (const path of paths) {
    const text = chosen.has(path) ? decodeText(path, await readFile(path)) : undefined;
    files.set(relative(folder, path), text);
  }
  return files;
}

function printDetails({ reason, nodes, notes }: Extraction): void {
  if (reason !== undefined) print(`  ${reason}`);
  const conditional = nodes.flatMap((node) => (node.conditional ? [node.name] : []));
  if (conditional.length > 0) print(`  only under a condition: ${conditional.slice(0, maxLines).join(', ')}`);
  for (const note of notes) print(`  ${note}`);
}

/** Names and texts come from packs: removes characters that move the cursor or reverse the text. */
function print(line: string): void {
  process.stdout.write(`${line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?').replace(/^(\s*):(?=:)/, '$1: ')}\n`);
}

await command.parseAsync();
