import { createServer } from 'node:net';
import { describe, expect, jest, test } from '@jest/globals';
import { listen } from '../../tools/processes/ports.ts';
import { startProcess } from '../../tools/processes/start-process.ts';
import { stopTimers } from 'testing/clock';
import { runProgram } from 'testing/run-program';
import { until } from 'testing/until';

interface ScriptOptions {
  isGroup?: boolean;
  graceMs?: number;
  onEnd?: (sentence: string) => void;
}

function startScript(script: string, options: ScriptOptions = {}) {
  const lines: string[] = [];
  const starting = startProcess({
    name: 'The server',
    command: process.execPath,
    args: ['-e', script],
    env: { ...process.env, NODE_OPTIONS: '--conditions=in-tree' },
    readyText: 'listening',
    timeoutMs: 60_000,
    onLine: (line) => lines.push(line),
    ...options,
  });
  return { starting, lines };
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

describe('startProcess', () => {
  test('resolves when the process is ready, passes on later lines, and stops it', async () => {
    const ends: string[] = [];
    const { starting, lines } = startScript(
      `process.on('SIGUSR2', () => console.error('two')); console.log('one'); console.log('listening');
       setInterval(() => {}, 1000)`,
      { onEnd: (sentence) => ends.push(sentence) },
    );

    const child = await starting;
    process.kill(child.pid, 'SIGUSR2');
    await until(() => lines.length > 0);
    await child.stop();
    await child.stop();

    expect(child.startOutput).toBe('one\nlistening');
    expect([lines, ends]).toEqual([['two'], []]);
    expect(isAlive(child.pid)).toBe(false);
  });

  test('rejects with the output of a process that exits early', async () => {
    const { starting } = startScript(`console.error('The port is taken.'); process.exit(3)`);

    await expect(starting).rejects.toThrow('The server stopped with code 3.\nThe port is taken.');
  });

  test('stops a process that is not ready in time, and rejects', async () => {
    const said = Promise.withResolvers<string>();
    const server = createServer((socket) =>
      socket.on('data', (bytes) => said.resolve(String(bytes))).on('error', () => {}),
    );
    const port = await listen(server);
    stopTimers();
    const { starting } = startScript(
      `const socket = require('node:net').connect(${port}, '127.0.0.1', () => socket.write(String(process.pid)))`,
    );
    const refused = expect(starting).rejects.toThrow('The server did not start within 60 s.');
    const pid = Number(await said.promise);
    expect(isAlive(pid)).toBe(true);
    jest.advanceTimersByTime(60_000);

    await refused;
    expect(isAlive(pid)).toBe(false);
    server.close();
  });
});

describe('a process that ignores the stop signal', () => {
  const ignores = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;

  test('dies with its whole group after a time of grace', async () => {
    const { starting } = startScript(`${ignores} ${spawnOf(`${ignores} ${sayPid}`)}`, {
      isGroup: true,
      graceMs: 100,
    });
    const child = await starting;
    const pid = Number(child.startOutput.split('\n')[0]);
    expect(isAlive(pid)).toBe(true);
    await child.stop();

    await until(() => !isAlive(pid));
  });

  test.each([
    ['exits', 'process.exit()'],
    ['is killed', "process.kill(process.pid, 'SIGKILL')"],
  ])('ends when the process that started it %s', async (_, end) => {
    const script = `
      import { startProcess } from './tools/processes/start-process.ts';
      const child = await startProcess({
        name: 'It', command: process.execPath, args: ['-e', ${JSON.stringify(`${ignores} console.log('listening')`)}],
        readyText: 'listening', timeoutMs: 60_000 });
      process.stdout.write(String(child.pid), () => ${end});`;
    const { stdout } = await runProgram(process.execPath, ['--input-type=module', '-e', script]);

    expect(Number(stdout)).toBeGreaterThan(0);
    await until(() => !isAlive(Number(stdout)));
  });
});

describe('Ctrl-C', () => {
  test('stops once, though npm passes it on a second time, and ends a stop that hangs the next time', async () => {
    // Two signals may become one, so each is sent after the last was heard, at a time that is said here.
    const script = `
      import { onStopSignal } from './tools/processes/stop-signals.ts';
      let now = 0;
      performance.now = () => now;
      onStopSignal(() => console.log('stopping'));
      process.on('SIGINT', () => console.log('heard at ' + now));
      process.on('SIGUSR2', () => { now += 500.5; console.log('later'); });
      setInterval(() => {}, 1000);
      console.log('listening');`;
    const lines: string[] = [];
    const ended = Promise.withResolvers<string>();
    const child = await startProcess({
      name: 'The stack',
      command: process.execPath,
      args: ['--input-type=module', '-e', script],
      env: { ...process.env, NODE_OPTIONS: '--conditions=in-tree' },
      readyText: 'listening',
      timeoutMs: 60_000,
      onLine: (line) => lines.push(line),
      onEnd: ended.resolve,
    });
    const send = async (signal: NodeJS.Signals, answer: string) => {
      process.kill(child.pid, signal);
      await until(() => lines.includes(answer));
      return lines.splice(0);
    };
    expect(await send('SIGINT', 'heard at 0')).toEqual(['stopping', 'heard at 0']);
    expect(await send('SIGINT', 'heard at 0')).toEqual(['heard at 0']);
    await send('SIGUSR2', 'later');
    process.kill(child.pid, 'SIGINT');

    expect(await ended.promise).toBe('The stack stopped with code 130.');
    expect(lines).toEqual([]);
  });
});
