import { Agent, type IncomingMessage, request } from 'node:http';
import { demo } from '../local/demo.ts';
import type { LocalStack } from '../local/spawn-stack.ts';
import type { SeededRandom } from './seeded-random.ts';

/** How one request ended, as its caller saw it. `isFaulted` where it was made to fail. */
export interface Sample {
  ms: number;
  status: number;
  isFaulted: boolean;
  text: string;
}

interface Planned {
  method: string;
  path: string;
  body: string;
  /** Whether a provider's misbehavior may strike it. */
  isPaid: boolean;
  isFaulted: boolean;
}

/** Of a hundred requests, so many are made to fail: half by the caller, half by the provider. */
const faultedShare = 5;
const node = `/publishers/${demo.publisherId}/nodes/${demo.nodeId}`;
const pairs = Array.from({ length: 10 }, (_, index) => ({
  node_id: demo.nodeId,
  version: `1.${index % 2}.0`,
}));

/** Mixed traffic: two thirds are reads, the rest writes and paid requests, over kept-alive connections. */
export class Traffic {
  readonly #stack: LocalStack;
  readonly #random: SeededRandom;
  readonly #agent: Agent;
  readonly #misled: { times: number };

  /** `misled` counts what the provider was told to do wrong and has not done yet; all callers share it. */
  constructor(stack: LocalStack, random: SeededRandom, connections: number, misled: { times: number }) {
    this.#stack = stack;
    this.#misled = misled;
    this.#random = random;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  async next(): Promise<Sample> {
    const planned = this.#plan();
    if (planned.isPaid && planned.isFaulted) await this.#misleadProvider();
    const began = performance.now();
    const { status, text } = await this.#send(this.#stack.apiUrl, planned);
    const ms = performance.now() - began;
    // Which of the paid requests under way a misbehavior strikes is not known, only that each strikes one.
    const isStruck = planned.isPaid && status >= 500 && this.#misled.times > 0;
    if (isStruck) this.#misled.times -= 1;
    return { ms, status, isFaulted: planned.isFaulted || isStruck, text };
  }

  close(): void {
    this.#agent.destroy();
  }

  #plan(): Planned {
    const random = this.#random;
    const kind = random.below(100);
    const isFaulted = random.below(100) < faultedShare;
    const plain = { isFaulted, isPaid: false };
    const body = (content: object) => (isFaulted ? '{"broken":' : JSON.stringify(content));
    if (kind < 65)
      return { ...plain, method: 'POST', path: '/bulk/nodes/versions', body: body({ node_versions: pairs }) };
    if (kind < 77) return { ...plain, method: 'PUT', path: node, body: body({ author: `caller ${kind}` }) };
    if (kind < 87) {
      const path = `/nodes/${demo.nodeId}/versions/${demo.version}/host-nodes/${random.below(50)}`;
      return { ...plain, method: 'PUT', path, body: body({ category: 'load' }) };
    }
    const paid = JSON.stringify({ model: 'vidq2-turbo', prompt: 'A boat' });
    return { isFaulted, isPaid: true, method: 'POST', path: '/proxy/video-provider/text2video', body: paid };
  }

  async #misleadProvider(): Promise<void> {
    this.#misled.times += 1;
    const kind = this.#random.pick(['reset', 'html', 'truncated', 'status']);
    const body = JSON.stringify({ kind, provider: 'video' });
    await this.#send(this.#stack.simulatorsUrl, { method: 'POST', path: '/control/misbehave', body });
  }

  #send(origin: string, { method, path, body }: Pick<Planned, 'method' | 'path' | 'body'>) {
    const headers = {
      authorization: `Bearer ${this.#stack.token('OWNER')}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    return new Promise<{ status: number; text: string }>((resolve) => {
      const lost = (error: Error) => resolve({ status: 0, text: String(error) });
      const outgoing = request(origin + path, { method, headers, agent: this.#agent }, (incoming) => {
        readText(incoming).then((text) => resolve({ status: incoming.statusCode ?? 0, text }), lost);
      });
      outgoing.on('error', lost);
      outgoing.end(body);
    });
  }
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
