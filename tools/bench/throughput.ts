import { Agent, request } from 'node:http';
import { startLocalStack } from '../local/spawn-stack.ts';
import { apiProcess } from '../local/stack-processes.ts';
import { amount, type Figure } from './figures.ts';

const body = JSON.stringify({ node_versions: [{ node_id: 'demo-node', version: '1.0.0' }] });
/**
 * Reads a node version from a separate local stack again and again on 1, 8 and 64 connections, and reports how much
 * memory the process of the functions held before and after.
 */
export async function measureThroughput(seconds: number): Promise<Figure[]> {
  const stack = await startLocalStack();
  const url = new URL('/bulk/nodes/versions', stack.apiUrl);
  const megabytes = () => apiProcess(stack).kilobytes / 1024;
  try {
    // By now the function is loaded, and the connection pools and the heap have grown.
    await drive(url, 64, seconds / 3);
    const atStart = megabytes();
    const figures: Figure[] = [];
    for (const connections of [1, 8, 64]) {
      const perSecond = await drive(url, connections, seconds / 3);
      figures.push(amount(`local stack, connections: ${connections}`, 'a second', perSecond));
    }
    return [
      ...figures,
      amount('local stack, memory at start', 'MB', atStart),
      amount('local stack, memory at end', 'MB', megabytes()),
    ];
  } finally {
    await stack.stop();
  }
}

/** Requests answered per second; a single failed request makes the run fail. */
async function drive(url: URL, connections: number, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + seconds * 1000;
  let answered = 0;
  const work = async () => {
    while (performance.now() < until) {
      const status = await ask(url, agent);
      if (status !== 200) throw new Error(`The local stack answered ${status}.`);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  agent.destroy();
  return answered / seconds;
}

function ask(url: URL, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { agent, method: 'POST', headers: { 'content-type': 'application/json' } };
    const outgoing = request(url, options, (incoming) =>
      incoming.on('end', () => resolve(incoming.statusCode ?? 0)).resume(),
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
