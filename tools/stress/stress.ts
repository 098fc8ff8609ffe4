// npm run stress -- [--short | --long] [--only NAMES] [--seed N] [--path PATH]
import { runCommand } from '../command-line/command.ts';
import { checks } from './checks.ts';
import { openHarness } from './harness.ts';
import { openStores } from './open-stores.ts';
import { type Choice, stressCommand } from './options.ts';
import type { Report } from './report.ts';

async function stress({ selected, ...options }: Choice): Promise<void> {
  const stores = await openStores();
  discardLog();
  const harness = await openHarness();
  try {
    for (const { name, properties } of selected) {
      print(`${name}: ${checks[name].about} …`);
      const began = performance.now();
      const check = await checks[name].load();
      const report = await check({ harness, properties, ...options });
      for (const property of properties ?? []) requireRun(report, property);
      show(name, report, (performance.now() - began) / 1000);
    }
  } finally {
    await harness.close();
    await stores.close();
  }
}

/** Only a check itself knows its properties, so a misspelled one is found when nothing has run. */
function requireRun(report: Report, property: string): void {
  if (!report.counts[`${property}: runs`]) report.violate(`${property} never ran: is it misspelled?`);
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
