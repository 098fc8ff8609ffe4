import { huntProtectedFields } from './access-fields.ts';
import { type AccessCase, accessCases } from './access-table.ts';
import { actors, personalTokens, populate } from './access-world.ts';
import type { Arena, ArenaAnswer } from './arena.ts';
import { type HuntOptions, Tally } from './hunt.ts';
import { differences, readTable, restoreTable } from './table-image.ts';

/** In the short form, one case of so many. */
const shortShare = 10;

/** Everyone tries everything: what is allowed is done, and what is refused leaves the table byte-identical. */
export async function huntAccess({ arena, random, length }: HuntOptions): Promise<Tally> {
  const tally = new Tally();
  await populate();
  const world = await readTable();
  let before = world;
  for (const accessCase of random.shuffled(accessCases())) {
    if (length === 'short' && !random.isOnceIn(shortShare)) continue;
    arena.simulation.reset();
    const answer = await attempt(arena, accessCase);
    const after = await readTable();
    const changed = differences(before, after);
    judge(tally, accessCase, answer, changed, arena.simulation.received.length);
    before = after;
    if (changed.length === 0) continue;
    await restoreTable(world);
    before = world;
  }
  await huntProtectedFields({ arena, random, length }, tally);
  return tally;
}

function attempt(arena: Arena, { actor, operation, request }: AccessCase): Promise<ArenaAnswer> {
  const authorization = actors[actor](arena);
  const body = request.body as { personal_access_token?: keyof typeof personalTokens } | undefined;
  const kind = body?.personal_access_token;
  const withToken = kind
    ? { ...request, body: { ...body, personal_access_token: personalTokens[kind] } }
    : request;
  return arena.call(operation, { ...withToken, headers: { authorization } });
}

const writes = ['update-node', 'publish-node-version', 'update-host-node'];

function judge(
  tally: Tally,
  { name, actor, operation, refusals }: AccessCase,
  answer: ArenaAnswer,
  changed: string[],
  sent: number,
): void {
  const isDone = answer.status < 300;
  tally.count(isDone ? 'cases allowed' : 'cases refused');
  const isRight = refusals.length === 0 ? isDone : refusals.includes(answer.body.error);
  if (!isRight)
    tally.violate(`${actor}: ${name}`, `expected ${refusals.join(' or ') || 'success'}`, answer.text);
  if (!isDone && changed.length > 0) tally.violate(`${actor}: ${name} was refused, yet changed`, changed);
  if (!isDone && sent > 0) tally.violate(`${actor}: ${name} was refused, yet reached the provider`);
  if (isDone && writes.includes(operation) && changed.length === 0)
    tally.violate(`${actor}: ${name} was answered as done, yet changed nothing`);
}
