import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { findBreakingChanges, mayBreak } from './breaking-changes.ts';
import { loadContracts } from './contracts.ts';
import { describeService } from './document.ts';

const file = 'docs/openapi.json';

/** Writes the document, unless that would break callers under the same major version. */
const document = describeService(await loadContracts());
const committed = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : document;
const changes = mayBreak(committed, document) ? [] : findBreakingChanges(committed, document);
if (changes.length > 0) {
  process.stderr.write(
    `${file} was not changed, because callers would break:\n${changes.map((change) => `  ${change}\n`).join('')}`,
  );
  process.stderr.write('Keep what they use, or raise the major version in package.json.\n');
  process.exitCode = 1;
} else {
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  process.stdout.write(`Wrote ${file}.\n`);
}
