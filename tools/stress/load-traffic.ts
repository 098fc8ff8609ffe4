import { Agent } from 'node:http';
import fc from 'fast-check';
import { demo } from '../local/demo.ts';
import type { LocalStack } from '../local/spawn-stack.ts';
import { send } from './http-exchange.ts';

/** The result of one request, as its caller saw it. `isFaulted` if it was made to fail. */
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
  /** How the provider should misbehave; then some paid request fails. */
  misbehavior?: string;
  isFaulted: boolean;
}

const node = `/publishers/${demo.publisherId}/nodes/${demo.nodeId}`;
const pairs = Array.from({ length: 10 }, (_, index) => ({
  node_id: demo.nodeId,
  version: `1.${index % 2}.0`,
}));
const paid = JSON.stringify({ model: 'vidq2-turbo', prompt: 'A boat' });

/** Mixed traffic: two thirds are reads, the rest writes and paid requests. One in twenty is made to fail. */
const planned: fc.Arbitrary<Planned> = fc
  .record({
    kind: fc.nat(99),
    isFaulted: fc.nat(19).map((draw) => draw === 19),
    hostNode: fc.nat(49),
    misbehavior: fc.constantFrom('reset', 'html', 'truncated', 'status'),
  })
  .map(({ kind, isFaulted, hostNode, misbehavior }) => {
    const body = (content: object) => (isFaulted ? '{"broken":' : JSON.stringify(content));
    if (kind < 65)
      return {
        method: 'POST',
        path: '/bulk/nodes/versions',
        body: body({ node_versions: pairs }),
        isFaulted,
      };
    if (kind < 77) return { method: 'PUT', path: node, body: body({ author: `caller ${kind}` }), isFaulted };
    const path = `/nodes/${demo.nodeId}/versions/${demo.version}/host-nodes/${hostNode}`;
    if (kind < 87) return { method: 'PUT', path, body: body({ category: 'load' }), isFaulted };
    const video = { method: 'POST', path: '/proxy/video-provider/text2video', body: paid, isFaulted: false };
    return isFaulted ? { ...video, misbehavior } : video;
  });

/** A cycle of requests, the same for the same seed. */
export function plannedRequests(seed: number): Planned[] {
  return fc.sample(planned, { seed, numRuns: 2000 });
}

/** One caller's kept-alive connections. */
export class Traffic {
  readonly #stack: LocalStack;
  readonly #agent: Agent;
  readonly #misled: { times: number };

  /** `misled` counts the requested misbehaviors that have not happened yet; all callers share it. */
  constructor(stack: LocalStack, connections: number, misled: { times: number }) {
    this.#stack = stack;
    this.#misled = misled;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  async send(planned: Planned): Promise<Sample> {
    if (planned.misbehavior) await this.#misleadProvider(planned.misbehavior);
    const began = performance.now();
    const { status, text } = await this.#request(this.#stack.apiUrl, planned);
    const ms = performance.now() - began;
    // It is unknown which running paid request a misbehavior hits, only that each hits one.
    const isStruck = planned.body === paid && status >= 500 && this.#misled.times > 0;
    if (isStruck) this.#misled.times -= 1;
    return { ms, status, isFaulted: planned.isFaulted || isStruck, text };
  }

  close(): void {
    this.#agent.destroy();
  }

  async #misleadProvider(kind: string): Promise<void> {
    this.#misled.times += 1;
    const body = JSON.stringify({ kind, provider: 'video' });
    await this.#request(this.#stack.simulatorsUrl, { method: 'POST', path: '/control/misbehave', body });
  }

  #request(origin: string, { method, path, body }: Pick<Planned, 'method' | 'path' | 'body'>) {
    const headers = {
      authorization: `Bearer ${this.#stack.token('OWNER')}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    return send(origin + path, { method, headers, agent: this.#agent }, body);
  }
}
