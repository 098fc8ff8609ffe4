import { readFile } from 'node:fs/promises';
import { seed } from '../local/seed.ts';
import { type AnswerCheck, readAnswerCheck } from './answer-check.ts';
import type { Arena, ArenaAnswer } from './arena.ts';
import { type FuzzedRequest, FuzzedRequests } from './fuzz-requests.ts';
import { type HuntOptions, Tally } from './hunt.ts';
import type { JsonSchema } from './schema-values.ts';
import { readTable, restoreTable, type TableImage } from './table-image.ts';
import { watchWrites } from './watch-writes.ts';

const requests = { short: 1200, usual: 24_000, long: 72_000 };

/** After so many the world is as it was: an admin may have deleted the one node that all ask about. */
const requestsAtOnce = 10;

/** No request takes this long; one that does has met an expression or a walk that grows faster than its input. */
const slowMs = 5000;

/**
 * Requests of every kind and none: no answer of 500 or above, each as docs/openapi.json has it, nothing taken
 * that the document does not take, and of what was refused no trace in the table or at a provider.
 */
export async function huntInput({ arena, random, length }: HuntOptions): Promise<Tally> {
  const tally = new Tally();
  await seed();
  const world = await readTable();
  const { routes, bodies, schemas } = await readDocument(arena);
  const check = await readAnswerCheck(routes);
  const fuzzed = new FuzzedRequests(arena, random, bodies, schemas);
  const writes = watchWrites();
  const onRejection = (reason: unknown) => tally.violate('an unhandled rejection', String(reason));
  process.on('unhandledRejection', onRejection);
  try {
    for (let number = 1; number <= requests[length]; number += 1) {
      if (number % requestsAtOnce === 0) await startAnew(world, tally);
      const request = fuzzed.next();
      writes.done.length = 0;
      arena.simulation.reset();
      const began = performance.now();
      const answer = await attempt(arena, request, tally);
      if (!answer) continue;
      if (performance.now() - began > slowMs) tally.violate('a slow answer', request);
      judge(tally, check, request, answer);
      if (answer.status < 400) continue;
      if (writes.done.length > 0) tally.violate('refused, yet written', request, answer.text, writes.done);
      const reached = arena.simulation.received.length > 0;
      if (reached && !answer.body.error.startsWith('provider_'))
        tally.violate('refused, yet sent to a provider', request, answer.text);
    }
  } finally {
    process.off('unhandledRejection', onRejection);
    writes.stop();
  }
  return tally;
}

/** Before the world is set back, no key may be left taken: everything that was asked has been answered. */
async function startAnew(world: TableImage, tally: Tally): Promise<void> {
  for (const [key, item] of await readTable())
    if (['running', 'sent'].includes(String(item.state?.S))) tally.violate('a key that is left taken', key);
  await restoreTable(world);
}

async function attempt(arena: Arena, request: FuzzedRequest, tally: Tally): Promise<ArenaAnswer | undefined> {
  try {
    return await arena.call(request.name, request);
  } catch (error) {
    tally.violate('no answer', request, error instanceof Error ? error.stack : error);
    return undefined;
  }
}

function judge(tally: Tally, check: AnswerCheck, request: FuzzedRequest, answer: ArenaAnswer): void {
  const { name, text, isBase64Encoded } = request;
  tally.count('requests');
  tally.count(`answered ${answer.status} ${answer.body.error ?? ''}`.trim());
  if (answer.status >= 500) tally.violate('a 5xx', request, answer.text);
  const faults = check.faultsOf(name, answer);
  if (faults.length > 0) tally.violate('an answer unlike the document', faults, request, answer.text);
  if (/\n\s+at |node_modules|\.[jt]s:\d/.test(answer.text))
    tally.violate('an answer with inner parts', answer.text);
  if (answer.status >= 300) return;
  const body = isBase64Encoded ? Buffer.from(text, 'base64').toString() : text;
  if (!body.isWellFormed() || !check.takes(name, JSON.parse(body)))
    tally.violate('taken, though the document does not', request, answer.text);
}

interface Document {
  paths: Record<string, Record<string, { requestBody: { content: Record<string, { schema: JsonSchema }> } }>>;
  components: { schemas: Record<string, JsonSchema> };
}

async function readDocument(arena: Arena) {
  const { paths, components }: Document = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
  const routes = new Map<string, string>();
  const bodies = new Map<string, JsonSchema>();
  for (const name of arena.names) {
    const route = String(arena.sample(name).routeKey);
    const [method = '', path = ''] = route.split(' ');
    const schema = paths[path]?.[method.toLowerCase()]?.requestBody.content['application/json']?.schema;
    if (!schema) throw new Error(`The document has no ${route}.`);
    routes.set(name, route);
    bodies.set(name, schema);
  }
  return { routes, bodies, schemas: components.schemas };
}
