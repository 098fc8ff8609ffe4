import { expect } from '@jest/globals';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { runCommandLine } from '../../tools/admin/program.ts';
import { intercept } from './intercept.ts';
import { asFunction } from './roles.ts';

/** With the rights of the role for people. */
function runAs(args: string[]) {
  return asFunction('administration', () => runCommandLine(args));
}

/** Runs `npm run admin -- ...` in this process, on the test file's own table. A failure is without its target. */
export async function admin(...args: string[]) {
  const { status, stdout, stderr } = await runAs(args);
  return { status, stdout, stderr: status === 0 ? stderr : stderr.replace(/^Target: .*\n/, '') };
}

/** Runs a command that must succeed, and returns its --json output. */
export async function adminJson(...args: string[]) {
  const { status, stdout, stderr } = await runAs([...args, '--json']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringMatching(/^(?:Target: .*\n)?$/) });
  return JSON.parse(stdout);
}

/** Until the test ends, a page of a query has so many items: a real one ends after a megabyte. */
export function limitPages(items: number): void {
  intercept(dynamodb, ({ command, input, send }) => {
    if (command === 'QueryCommand') input.Limit = items;
    return send();
  });
}
