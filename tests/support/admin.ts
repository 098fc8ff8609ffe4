import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { expect } from '@jest/globals';
import { dynamodb } from '../../lib/store/table.ts';
import { runCommandLine } from '../../tools/admin/command-line.ts';

/** Runs `npm run admin -- ...` in this process, on the test file's own table. */
export function admin(...args: string[]) {
  return runCommandLine(args);
}

/** Runs a command that must succeed and answers what --json prints. */
export async function adminJson(...args: string[]) {
  const { status, stdout, stderr } = await runCommandLine([...args, '--json']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** Does something else after `work` has read and decided, right before its first transaction leaves. */
export async function duringNextTransaction<T>(
  meanwhile: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  let isDue = true;
  const name = 'meanwhile';
  dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (isDue && commandName === TransactWriteItemsCommand.name) {
          isDue = false;
          await meanwhile();
        }
        return next(args);
      },
    { step: 'initialize', name },
  );
  try {
    const result = await work();
    expect(isDue).toBe(false);
    return result;
  } finally {
    dynamodb.middlewareStack.remove(name);
  }
}
