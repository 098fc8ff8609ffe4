// npm run capacity
import { readFile, writeFile } from 'node:fs/promises';
import { createCommand, runCommand } from 'command-line/command';
import { capacityTable, withCapacityTable } from './capacity-table.ts';
import { countCalls } from './counted-calls.ts';
import { startCountedStores } from './counted-stores.ts';

const file = 'docs/capacity.md';

const command = createCommand({
  name: 'npm run capacity --',
  summary: `Counts the calls and units of each operation on the local stores, and writes the table of ${file}`,
}).action(writeTable);

process.exitCode = await runCommand(command, process.argv.slice(2));

async function writeTable(): Promise<void> {
  const print = process.stdout.write.bind(process.stdout);
  // The functions log to standard output.
  process.stdout.write = () => true;

  const stores = await startCountedStores();
  try {
    const table = capacityTable(await countCalls(stores));
    print(table);
    await writeFile(file, withCapacityTable(await readFile(file, 'utf8'), table));
    print(`Wrote the table of ${file}.\n`);
  } finally {
    await stores.stop();
  }
}
