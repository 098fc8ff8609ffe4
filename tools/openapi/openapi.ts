import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { createCommand, runCommand } from 'command-line/command';
import { findBreakingChanges, mayBreak } from './breaking-changes.ts';
import { reasonOf } from './breaks.ts';
import { loadOperations } from '../../infra/operations.ts';
import { describeService } from './document.ts';

const file = 'docs/openapi.json';

const command = createCommand({
  name: 'npm run openapi --',
  summary: `Writes ${file}, unless it would break callers without a reason or under the same major version`,
}).action(writeDocument);

const status = await runCommand(command, process.argv.slice(2));
process.exitCode ||= status;

async function writeDocument(): Promise<void> {
  const document = describeService(await loadOperations());
  const released = lastRelease(document) ?? document;
  const breaks = findBreakingChanges(released, document);
  const unexplained = breaks.filter(
    (sentence) => !mayBreak(released, document) || reasonOf(sentence) === undefined,
  );
  process.stdout.write(
    listing(
      'Callers may break',
      breaks.map((sentence) => `${sentence}: ${reasonOf(sentence) ?? 'no reason is given'}`),
    ),
  );
  if (unexplained.length > 0) {
    process.stderr.write(
      `${file} was not changed. ${listing('Without a reason or a new major version', unexplained)}`,
    );
    process.stderr.write(
      'Keep what callers use, or give the reason in tools/openapi/breaks.ts and raise the major version in package.json.\n',
    );
    process.exitCode = 1;
    return;
  }
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  process.stdout.write(`Wrote ${file}.\n`);
}

function listing(title: string, sentences: readonly string[]): string {
  return sentences.length === 0
    ? ''
    : `${title}:\n${sentences.map((sentence) => `  ${sentence}\n`).join('')}`;
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
