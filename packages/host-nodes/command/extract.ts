// npm run extract -- --packs DIR [--expected FILE]
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { extractHostNodes } from '../extract-host-nodes.ts';
import { type Comparison, comparePack, type ExpectedPack, totals } from './compare.ts';
import { readPack } from './read-pack.ts';

interface Options {
  packs: string;
  expected?: string;
  verbose?: boolean;
}

const maxLines = 40;

const command = new Command('npm run extract --')
  .description(
    'Extracts the host nodes of a folder of packs, without running them. A folder is named after its repository, with + for the slash. With --expected, the result is compared with what importing the packs shows.',
  )
  .requiredOption('--packs <DIR>', 'A folder with one folder for each pack')
  .option('--expected <FILE>', 'What importing the packs shows, as JSON')
  .option('--verbose', 'Show what differs, and what the code calls')
  .action(extractAll);

async function extractAll({ packs, expected, verbose = false }: Options): Promise<void> {
  const truths: ExpectedPack[] = expected === undefined ? [] : JSON.parse(await readFile(expected, 'utf8'));
  const results: (Comparison & { seconds: number })[] = [];
  const entries = await readdir(packs, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isFile()).map(({ name }) => name);
  if (names.length === 0) reject(`There is no folder in ${packs}.`);
  for (const name of names.sort()) {
    const truth = truths.find(({ repository }) => repository.replace('/', '+') === name);
    results.push(await extractOne(join(packs, name), name, truth, verbose));
  }
  for (const line of totals(results).split('\n')) print(line);
  if (truths.length > 0 && results.every((result) => result.names === 0))
    reject(`No folder in ${packs} is named after a repository of ${expected}.`);
}

async function extractOne(folder: string, name: string, truth: ExpectedPack | undefined, verbose: boolean) {
  const files = await readPack(folder);
  const started = process.cpuUsage();
  const extraction = extractHostNodes(files, { name: name.slice(name.indexOf('+') + 1) });
  const { user, system } = process.cpuUsage(started);
  const seconds = (user + system) / 1e6;
  const result = comparePack(extraction, truth);
  const { missing, extra, wrong, open } = result;
  const compared = truth
    ? ` (${result.names} expected, ${missing.length} missing, ${extra.length} extra; ${wrong.length} values wrong, ${open.length} open)`
    : '';
  print(
    `${name}: ${extraction.status}, ${result.nodes} nodes${compared}, ${extraction.steps} steps, ${seconds.toFixed(2)} s`,
  );
  if (verbose && extraction.risks.length > 0) print(`  ${extraction.risks.join(', ')}`);
  if (extraction.reason !== undefined) print(`  ${extraction.reason}`);
  const conditional = extraction.nodes.flatMap((node) => (node.conditional ? [node.name] : []));
  if (conditional.length > 0) print(`  only under a condition: ${conditional.slice(0, maxLines).join(', ')}`);
  const titles = extraction.nodes.map((node) => [node.name, node.displayName ?? 'no title'].join(': '));
  for (const title of verbose ? titles : []) print(`  node: ${title}`);
  for (const note of extraction.notes) print(`  ${note}`);
  for (const [title, lines] of Object.entries({ missing, extra, wrong, open })) {
    for (const line of verbose ? lines.slice(0, maxLines) : []) print(`  ${title}: ${line}`);
  }
  return { ...result, seconds };
}

/** Names and texts come from packs: a line has no character that moves the cursor or turns the text around. */
function print(line: string): void {
  process.stdout.write(`${line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?').replace(/^(\s*):(?=:)/, '$1: ')}\n`);
}

function reject(sentence: string): never {
  return command.error(`${sentence} See npm run extract -- --help`, { exitCode: 2 });
}

await command.parseAsync();
