// npm run stress -- [--short | --long] [--only NAMES] [--seed N] [--path PATH]
import { runCommand } from '../command-line/command.ts';
import { checks } from './checks.ts';
import { openHarness } from './harness.ts';
import { openStores } from './open-stores.ts';
import { type Choice, stressCommand } from './options.ts';
import type { Report } from './report.ts';

async function stress({ names, ...options }: Choice): Promise<void> {
  const stores = await openStores();
  discardLog();
  const harness = await openHarness();
  try {
    for (const name of names) {
      print(`${name}: ${checks[name].about} …`);
      const began = performance.now();
      const check = await checks[name].load();
      const report = await check({ harness, ...options });
      show(name, report, (performance.now() - began) / 1000);
    }
  } finally {
    await harness.close();
    await stores.close();
  }
}

function show(name: string, { counts, violations }: Report, seconds: number): void {
  const lines = Object.entries(counts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, count]) => `  ${String(count).padStart(8)}  ${what}`);
  const summary = violations.length === 0 ? 'passed' : 'FAILED';
  const found = violations.map((text) => `  ! ${text}`);
  print(`${name}: ${summary} in ${seconds.toFixed(1)} s`, ...lines, ...found, '');
  if (violations.length > 0) process.exitCode = 1;
}

/** The functions log to standard output, where thousands of lines would hide the report. */
function discardLog(): void {
  Object.defineProperty(process, 'stdout', { value: { write: () => true }, configurable: true });
}

function print(...lines: string[]): void {
  process.stderr.write(`${lines.join('\n')}\n`);
}

const status = await runCommand(stressCommand(stress), process.argv.slice(2));
process.exitCode ||= status;
