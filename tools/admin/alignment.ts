import { setTimeout as pause } from 'node:timers/promises';
import { inParallel } from '../../lib/in-parallel.ts';
import { align } from '../../lib/registry/alignment.ts';
import { listOwnedNodes } from '../../lib/registry/moves.ts';
import { alignedRecord } from '../../lib/registry/records.ts';
import { type Key, keyName, nodeKey, publisherKey } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { type CommandResult, textOf } from './command.ts';
import { newContext } from './registry/administration.ts';
import { findStage } from './target.ts';

interface Followers {
  publisher?: string;
  /** Whose nodes follow the publisher. */
  nodesOf?: string;
  nodeIds?: readonly string[];
}

/**
 * Does what follows from a decision, to the end. If this process dies, the lane `align` does. `result` is read afterwards.
 */
export async function aligning(
  followers: Followers,
  result: () => Promise<CommandResult>,
): Promise<CommandResult> {
  const denied = new Set<string>();
  const goesOn = 'What follows from it goes on without this command: npm run admin -- work list --lane align';
  const stop = () => {
    process.stderr.write(`\nThe change is made. ${goesOn}\n`);
    process.exit(1);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const servesDownloads = await findStage();
    await alignAll(followers, denied);
    const made = await result();
    if (denied.size === 0) return made;
    const count = denied.size === 1 ? 'One archive is' : `${denied.size} archives are`;
    if (servesDownloads) return { ...made, text: `${made.text}\n${count} denied to readers.` };
    const keys = [...denied].sort().join('\n');
    const problem = `This stage does not serve its downloads itself, so deny these where they are served:\n${keys}\n`;
    return { ...made, problem };
  } catch (error) {
    return { ...(await result()), problem: `The change is made. ${goesOn}\n${textOf(error)}` };
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

/** Each may write 1,000 units a second, and `tableMaxWrites` is 4,000: the rest is for other tenants. */
const nodesAtOnce = 3;

async function alignAll({ publisher, nodesOf, nodeIds = [] }: Followers, denied: Set<string>): Promise<void> {
  if (publisher !== undefined) await alignEach([publisherKey(publisher)], denied);
  const owned = nodesOf === undefined ? [] : await listOwnedNodes(newContext(), nodesOf);
  const names = [...nodeIds, ...owned.map(({ node_id }) => node_id)];
  await alignEach([...new Map(names.map(nodeKey).map((key) => [keyName(key), key])).values()], denied);
}

const stepMs = 300_000;
const pauseMs = 5_000;

/** In rounds: archives of all come before the versions of large ones, and copies are dropped meanwhile. */
async function alignEach(keys: readonly Key[], denied: Set<string>): Promise<void> {
  const onDenied = (archives: readonly string[]) => archives.forEach((each) => void denied.add(each));
  for (let left = keys; left.length > 0; ) {
    const more: Key[] = [];
    await inParallel(left.values(), nodesAtOnce, async (key) => {
      const record = alignedRecord((await get(newContext(), key))[0]);
      const outcome = record && (await align({ deadline: Date.now() + stepMs }, record, onDenied));
      if (outcome === 'more') more.push(key);
    });
    left = more;
    if (left.length === 0) return;
    const done = keys.length - left.length;
    process.stderr.write(`Archives, versions and copies follow: ${done} of ${keys.length} are done.\n`);
    await pause(pauseMs);
  }
}
