import { startLocalStack } from '../local/spawn-stack.ts';
import type { Figure } from './figures.ts';

const body = JSON.stringify({ node_versions: [{ node_id: 'demo-node', version: '1.0.0' }] });
const connections = 64;

/** Repeatedly reads a node version from a local stack; reports its rate, and the memory of all its processes before and after. */
export async function measureThroughput(seconds: number): Promise<Figure[]> {
  const stack = await startLocalStack();
  const url = new URL('/bulk/nodes/versions', stack.apiUrl);
  const megabytes = () => stack.processes().reduce((sum, { kilobytes }) => sum + kilobytes, 0) / 1024;
  try {
    await ask(url);
    const atStart = megabytes();
    // Warms up: afterwards the function is loaded, and the connection pools and the heap have grown.
    await drive(url, seconds / 3);
    return [
      { name: 'local stack', unit: 'a second', median: await drive(url, seconds) },
      { name: 'local stack, memory at the first answer', unit: 'MB', median: atStart },
      { name: 'local stack, memory at end', unit: 'MB', median: megabytes() },
    ];
  } finally {
    await stack.stop();
  }
}

/** Requests answered per second; a single failed request makes the run fail. */
async function drive(url: URL, seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let answered = 0;
  const work = async () => {
    while (performance.now() < until) {
      await ask(url);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return answered / seconds;
}

async function ask(url: URL): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`The local stack answered ${answer.status}.`);
}
