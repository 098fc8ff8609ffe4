import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';

interface ProcessOptions {
  /** The subject of error sentences, such as "The embedded DynamoDB". */
  name: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  /** The process is ready once it prints a line that contains this text. */
  readyText: string;
  timeoutMs: number;
  stopSignal?: NodeJS.Signals;
  /** How long the process may take to end after the signal, before it is killed. */
  graceMs?: number;
  /** Start a new process group and send signals to all of it, like Ctrl-C in a terminal. */
  isGroup?: boolean;
  /** Receives each line that the process prints after it is ready. */
  onLine?: (line: string) => void;
  /** Receives a sentence when the process ends after it was ready. */
  onEnd?: (sentence: string) => void;
}

/** Starts a program and waits until it reports that it is ready. */
export async function startProcess(options: ProcessOptions) {
  const { name, command, args, env, readyText, timeoutMs, onLine, onEnd } = options;
  const { stopSignal = 'SIGTERM', isGroup = false, graceMs = 10_000 } = options;
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: isGroup });
  const exited = new Promise<void>((resolve) =>
    child.once('exit', () => resolve()).once('error', () => resolve()),
  );
  const lines: string[] = [];
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const send = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined && isRunning()) process.kill(isGroup ? -child.pid : child.pid, signal);
  };
  const kill = () => send('SIGKILL');
  const stop = async () => {
    send(stopSignal);
    const timer = setTimeout(kill, graceMs);
    await exited;
    clearTimeout(timer);
  };
  // Otherwise it would keep running if this process exits first.
  process.on('exit', kill);
  const guard = child.pid === undefined ? undefined : startGuard(isGroup ? -child.pid : child.pid);
  void exited.then(() => {
    process.off('exit', kill);
    guard?.kill();
  });
  await new Promise<void>((resolve, reject) => {
    let isReady = false;
    const fail = (reason: string) => {
      clearTimeout(timer);
      reject(new Error([`${name} ${reason}.`, ...lines].join('\n')));
    };
    const read = (line: string) => {
      if (isReady) return onLine?.(line);
      lines.push(line);
      if (!line.includes(readyText)) return;
      isReady = true;
      clearTimeout(timer);
      resolve();
    };
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      void stop();
    }, timeoutMs);
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', read);
    child.once('error', (error) => fail(`could not be started (${error.message})`));
    // Not 'exit': at 'close' the last lines have been read, which usually give the reason.
    child.once('close', (code, signal) => {
      const how = `stopped with ${signal ?? `code ${code}`}`;
      if (!isReady) fail(isLate ? `did not start within ${timeoutMs / 1000} s` : how);
      else onEnd?.(`${name} ${how}.`);
    });
  });
  /** The output until it was ready. */
  const startOutput = lines.join('\n');
  return { pid: Number(child.pid), startOutput, stop };
}

/** Kills a process or a group when this process is gone, even by SIGKILL: the pipe between them then ends. */
function startGuard(pid: number): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined;
  const script = 'trap "" INT; read -r _; kill -s KILL -- "$0" 2> /dev/null';
  const guard = spawn('sh', ['-c', script, String(pid)], { stdio: ['pipe', 'ignore', 'ignore'] });
  guard.on('error', () => {}).unref();
  // A pipe is a socket, which would keep this process running.
  (guard.stdin as Socket).on('error', () => {}).unref();
  return guard;
}
