import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { localAddress, ports } from './addresses.ts';
import { startGateway } from './gateway.ts';

interface Api {
  stop: () => Promise<void>;
}

const patienceMs = 45_000;

/**
 * Serves every route of serverless.yml over the built bundles, with serverless-offline in a process of its own, behind
 * a gateway that is as strict as the deployed one. Each
 * function is loaded there once: its default, a thread for each invocation at a time, took 4.4 GB at 64 connections.
 * Once it is up, each line that a function logs goes to `onLine`.
 */
export async function startApi(onLine: (line: string) => void): Promise<Api> {
  const flags = [
    '--httpPort',
    String(ports.functions),
    '--lambdaPort',
    String(ports.lambda),
    '--noPrependStageInUrl',
    '--useInProcess',
  ];
  const child = spawn('serverless', ['offline', 'start', '--stage', 'local', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '', SLS_TELEMETRY_DISABLED: '1', SLS_NOTIFICATIONS_MODE: 'off' },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const lines: string[] = [];
    let ready = false;
    const timer = setTimeout(() => fail('did not start in time'), patienceMs);
    const fail = (reason: string) => {
      clearTimeout(timer);
      reject(new Error(`The local HTTP API ${reason}.\n${lines.join('\n')}`));
    };
    const read = (line: string) => {
      if (ready) onLine(line);
      else lines.push(line);
      if (!line.includes('Server ready')) return;
      ready = true;
      clearTimeout(timer);
      resolve();
    };
    createInterface({ input: child.stdout }).on('line', read);
    createInterface({ input: child.stderr }).on('line', read);
    child.once('error', (error) => fail(`could not be started (${error.message})`));
    child.once('exit', (code) => fail(`stopped with code ${code}`));
  });
  const gateway = await startGateway(ports.api, localAddress(ports.functions));
  const stop = async () => {
    await gateway.stop();
    child.kill('SIGTERM');
    await exited;
  };
  return { stop };
}
