import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { amount, type Figure } from './figures.ts';

const portOffset = 21_000;
const patienceMs = 60_000;
const body = JSON.stringify({ node_versions: [{ node_id: 'demo-node', version: '1.0.0' }] });

/** Runs `npm start` in a folder of its own and asks it for a node version, over and over, on 1, 8 and 64 connections. */
export async function measureThroughput(folder: string, seconds: number): Promise<Figure[]> {
  const child = spawn(process.execPath, ['tools/local/start.ts'], {
    env: {
      PATH: process.env.PATH,
      LOCAL_PORT_OFFSET: String(portOffset),
      LOCAL_DIRECTORY: join(folder, 'local'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((done) => child.once('exit', done));
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('The local stack did not start in time.')), patienceMs);
      child.once('exit', () => reject(new Error('The local stack stopped.')));
      child.stdout.on('data', (chunk: Buffer) => {
        if (!chunk.includes('Up in')) return;
        clearTimeout(timer);
        resolve();
      });
    });
    await drive(1, 1);
    const atStart = await residentMegabytes(child.pid);
    const figures: Figure[] = [];
    for (const connections of [1, 8, 64]) {
      const perSecond = await drive(connections, seconds / 3);
      figures.push(amount(`local stack, connections: ${connections}`, 'a second', perSecond));
    }
    const atEnd = await residentMegabytes(child.pid);
    return [
      ...figures,
      amount('local stack, memory at start', 'MB', atStart),
      amount('local stack, memory at end', 'MB', atEnd),
    ];
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
}

/** Requests answered in a second; a single one that is not answered well makes the whole run worthless. */
async function drive(connections: number, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + seconds * 1000;
  let answered = 0;
  const work = async () => {
    while (performance.now() < until) {
      const status = await ask(agent);
      if (status !== 200) throw new Error(`The local stack answered ${status}.`);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  agent.destroy();
  return answered / seconds;
}

function ask(agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent,
        host: '127.0.0.1',
        port: 3000 + portOffset,
        method: 'POST',
        path: '/bulk/nodes/versions',
        headers: { 'content-type': 'application/json' },
      },
      (incoming) => incoming.on('end', () => resolve(incoming.statusCode ?? 0)).resume(),
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Linux tells it in a file; elsewhere it is not known, and shown as 0. */
async function residentMegabytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status)?.[1];
  return Number(kilobytes ?? 0) / 1024;
}
