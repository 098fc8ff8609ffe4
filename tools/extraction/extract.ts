import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { comparePack, type ExpectedPack, totals } from './compare.ts';
import { readPack } from './read-pack.ts';
import { extractHostNodes } from '../../lib/extraction/extract-host-nodes.ts';

/*
 * `npm run extract -- --packs DIR [--expected FILE]`: extracts the host nodes of every folder in DIR, and compares them with
 * what importing the packs says. A folder is called after its repository, with `+` for the slash.
 */

const { values } = parseArgs({
  options: { packs: { type: 'string' }, expected: { type: 'string' }, verbose: { type: 'boolean' } },
});
if (values.packs === undefined) throw new Error('Say which folder of packs: --packs DIR.');
const expected: ExpectedPack[] = values.expected ? JSON.parse(await readFile(values.expected, 'utf8')) : [];
const results = [];
for (const name of (await readdir(values.packs)).sort()) {
  const files = await readPack(join(values.packs, name));
  const started = process.cpuUsage();
  const extraction = extractHostNodes(files, { name: basename(name.replace('+', '/')) });
  const { user, system } = process.cpuUsage(started);
  const truth = expected.find(({ repository }) => repository.replace('/', '+') === name);
  const result = comparePack(extraction, truth);
  results.push({ ...result, seconds: (user + system) / 1e6 });
  const seconds = ((user + system) / 1e6).toFixed(2);
  const { nodes, names, missing, extra, wrong } = result;
  process.stdout.write(
    `${name}: ${extraction.status}, ${nodes} nodes${truth ? ` (${names} expected)` : ''}, ${missing.length} missing, ${extra.length} extra, ${wrong.length} wrong, ${extraction.steps} steps, ${seconds} s\n`,
  );
  if (extraction.reason) process.stdout.write(`  ${extraction.reason}\n`);
  if (!values.verbose) continue;
  for (const [title, list] of Object.entries({ missing, extra, wrong, notes: extraction.notes })) {
    for (const line of list.slice(0, 40)) process.stdout.write(`  ${title}: ${line}\n`);
  }
}
process.stdout.write(`${totals(results)}\n`);
