import { describe, expect, test } from '@jest/globals';
import { startProcess } from '../../tools/processes/start-process.ts';
import { runProgram } from '@node-registry/testing/shell';
import { until } from '@node-registry/testing/until';

function startScript(script: string, options = {}) {
  return startProcess({
    name: 'The server',
    command: process.execPath,
    args: ['-e', script],
    readyText: 'listening',
    timeoutMs: 60_000,
    ...options,
  });
}

/** Says the id and the readiness in one write, so that no other process's line comes between or first. */
const sayPid = `console.log(process.pid + '\\nlistening');`;

/** A script's lines that start another script as `child`. */
function spawnOf(script: string): string {
  return `const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(script)}], { stdio: 'inherit' });`;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('startProcess stops a process that is not ready in time, and rejects', async () => {
  const starting = startScript('setInterval(() => {}, 1000)', { timeoutMs: 100 });

  await expect(starting).rejects.toThrow('The server did not start within 0.1 s.');
});

describe('a process that ignores the stop signal', () => {
  const ignores = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;

  test('dies with its whole group after a time of grace', async () => {
    const script = `${ignores} ${spawnOf(`${ignores} ${sayPid}`)}`;
    const child = await startScript(script, { isGroup: true, graceMs: 100 });
    const pid = Number(child.startOutput.split('\n')[0]);
    expect(isAlive(pid)).toBe(true);
    await child.stop();

    await until(() => !isAlive(pid));
  });

  test('ends when the process that started it is killed', async () => {
    const script = `
      import { startProcess } from './tools/processes/start-process.ts';
      const child = await startProcess({
        name: 'It', command: process.execPath, args: ['-e', ${JSON.stringify(`${ignores} console.log('listening')`)}],
        readyText: 'listening', timeoutMs: 60_000 });
      process.stdout.write(String(child.pid), () => process.kill(process.pid, 'SIGKILL'));`;
    const { stdout } = await runProgram(process.execPath, ['--input-type=module', '-e', script]);

    expect(Number(stdout)).toBeGreaterThan(0);
    await until(() => !isAlive(Number(stdout)));
  });
});
