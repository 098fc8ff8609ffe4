import { execFileSync } from 'node:child_process';
import { isObject, type JsonObject } from '../../lib/json.ts';

/**
 * The document as it was committed last under another version; undefined without that history. A release needs no
 * copy of it next to the current one.
 */
export function lastRelease({ info }: JsonObject): JsonObject | undefined {
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
