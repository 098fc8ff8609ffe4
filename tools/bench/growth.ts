import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { handler as bulk } from '../../functions/bulk-node-versions.ts';
import { handler as publish } from '../../functions/publish-node-version.ts';
import { handler as updateHostNode } from '../../functions/update-host-node.ts';
import { dynamodb } from '../../lib/store/table.ts';
import { demo } from '../local/demo.ts';
import { bulkEvent } from './cold.ts';
import { type Figure, inTurns, ratio } from './figures.ts';
import { addHostNodes, addNodes, addVersions } from './filling.ts';
import { context, type Handler, quietly, timeOf } from './warm.ts';
import { readEvent } from './servers.ts';

const serviceTimeMs = 5;
const perRound = 3;

/** How the time of a call grows with the size of the request, and with the amount of stored data. */
export async function measureGrowth(rounds: number): Promise<Figure[]> {
  await addNodes(1000);
  return quietly(async () => [...(await measureBulks(rounds)), ...(await measureNeighbors(rounds))]);
}

async function measureBulks(rounds: number): Promise<Figure[]> {
  const events = await Promise.all([1, 10, 100, 1000].map(bulkEvent));
  const [one, ten, hundred, thousand] = events.map((event) => call(bulk, event));
  const runs = { one, ten, hundred, thousand } as Record<string, () => Promise<number>>;
  replayAnswers();
  await inTurns(3, runs);
  const times = await inTurns(rounds, runs);
  dynamodb.middlewareStack.remove('replay');
  const over = (name: string, count: string) =>
    ratio(`bulk of ${name} over one of 100`, times[count] ?? [], times.hundred ?? []);
  return [over('1', 'one'), over('10', 'ten'), over('1,000', 'thousand')];
}

async function measureNeighbors(rounds: number): Promise<Figure[]> {
  const runs = {
    publish: call(publish, await readEvent('publish-node-version')),
    update: call(updateHostNode, await readEvent('update-host-node')),
  };
  await inTurns(3, runs);
  const alone = await inTurns(rounds, runs);
  await addVersions(demo.nodeId, 1000);
  await addHostNodes(demo.nodeId, demo.version, 1000);
  const crowded = await inTurns(rounds, runs);
  return [
    ratio('publish beside 1,000 versions over beside 2', crowded.publish, alone.publish),
    ratio('update host node beside 1,000 over alone', crowded.update, alone.update),
  ];
}

function call(handler: unknown, event: unknown): () => Promise<number> {
  return () => timeOf(perRound, () => (handler as Handler)(structuredClone(event), context));
}

/**
 * Repeats the store's first answer to each request, after the time that DynamoDB takes. The embedded store reads
 * many keys one after the other, which would hide how they were requested.
 */
function replayAnswers(): void {
  const known = new Map<string, Buffer>();
  dynamodb.middlewareStack.add(
    (next) => async (args) => {
      const question = createHash('sha256')
        .update((args.request as { body: Uint8Array }).body)
        .digest('hex');
      const answer = known.get(question);
      if (answer) {
        await pause(serviceTimeMs);
        return {
          response: { statusCode: 200, headers: {}, body: Readable.from([answer]) },
          output: { $metadata: {} },
        };
      }
      const { response } = await next(args);
      const fresh = await buffer((response as { body: Readable }).body);
      known.set(question, fresh);
      return {
        response: { statusCode: 200, headers: {}, body: Readable.from([fresh]) },
        output: { $metadata: {} },
      };
    },
    { step: 'deserialize', priority: 'low', name: 'replay' },
  );
}
