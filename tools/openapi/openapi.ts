import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { findBreakingChanges, mayBreak } from './breaking-changes.ts';
import { loadOperations } from '../../infra/operations.ts';
import { describeService } from './document.ts';

const file = 'docs/openapi.json';

const command = createCommand({
  name: 'npm run openapi --',
  summary: `Writes ${file}, unless it would break callers under the same major version`,
}).action(writeDocument);

await runProgram(command);

async function writeDocument(): Promise<void> {
  const document = describeService(await loadOperations());
  const released = lastRelease(document) ?? document;
  const breaks = await findBreakingChanges(released, document);
  if (breaks.length > 0)
    process.stdout.write(`Callers may break:\n${breaks.map((sentence) => `  ${sentence}\n`).join('')}`);
  if (breaks.length > 0 && !mayBreak(released, document))
    throw new Error(
      `${file} was not changed. Keep what callers use, or raise the major version in package.json.`,
    );
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  process.stdout.write(`Wrote ${file}.\n`);
}

/**
 * The document as it was committed last under another version; undefined without that history. A release needs no
 * copy of it next to the current one.
 */
function lastRelease({ info }: JsonObject): JsonObject | undefined {
  const version = isObject(info) ? String(info.version) : '';
  try {
    const commits = git('log', '--format=%H', `-S"version": "${version}"`, '--', 'package.json')
      .trim()
      .split('\n');
    const raised = commits.at(-1);
    return raised
      ? JSON.parse(git('show', `${raised}^:docs/openapi.json`))
      : JSON.parse(git('show', 'HEAD:docs/openapi.json'));
  } catch {
    return undefined;
  }
}

function git(...options: string[]): string {
  return execFileSync('git', options, { encoding: 'utf8', stdio: 'pipe', maxBuffer: 64 * 1024 * 1024 });
}
