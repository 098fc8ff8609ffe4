import { expect } from '@jest/globals';
import { isListening } from '@node-registry/command-line/is-listening';
import type { LocalStack } from '../../tools/local/spawn-stack.ts';
import { partOf } from '../../tools/local/stack-processes.ts';
import { until } from '@node-registry/testing/until';

/** Kills a part of a stack, and requires that the stack says so and ends. */
export async function requireEndWithout(stack: LocalStack, name: string, args: RegExp): Promise<void> {
  process.kill(partOf(stack, args).pid, 'SIGKILL');
  await until(async () => !(await isListening(stack.pagesUrl, 60_000)));
  await stack.stop();

  expect(stack.output()).toContain(`${name} stopped with SIGKILL. The local stack stops too`);
}
