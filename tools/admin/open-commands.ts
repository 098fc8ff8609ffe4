import { randomUUID } from 'node:crypto';
import { foldNodeId } from '@node-registry/registry-rules/names';
import { normalizeVersion } from '@node-registry/registry-rules/version-label';
import { dueShard } from '../../lib/store/due.ts';
import { always, typedRead } from '../../lib/store/items.ts';
import { commandKey, type Key } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { put, remove } from '../../lib/store/write.ts';
import { sentenceFor, UsageError } from './command.ts';
import { listItems, newContext, Rejection } from './registry/administration.ts';

/*
 * A command of many steps is recorded while it runs. If its process dies, the record stays, and every later command, by any
 * administrator, reports that it must be run again. After an hour, an alarm fires (lib/uploads/upload-events.ts).
 */

interface OpenCommand extends Key {
  id: string;
  /** The command line to type. */
  line: string;
  actor: string;
  pending_shard: string;
  pending_since: string;
}

const openCommand = typedRead<OpenCommand>();

/** A ban and its end undo each other, so the later one replaces the earlier, in any accepted spelling. */
function commandSubject(words: string): string {
  return words
    .replace(/^takedown run/, 'node-version ban')
    .replace(/^(\S+) unban/, '$1 ban')
    .replace(/^(node\S*) ban (\S+) ?(.*)/, (_, noun, id, label) =>
      `${noun} ban ${foldNodeId(id)} ${normalizeVersion(label) ?? label}`.trim(),
    );
}

/** Runs a command of many steps. `words` are its noun, verb and parameters. */
export async function runSteps<Result>(
  { actor, words, line }: { actor: string; words: string; line: string },
  run: () => Promise<Result>,
): Promise<Result> {
  const key = commandKey(commandSubject(words));
  const id = randomUUID();
  const listing = { pending_shard: dueShard('commands', id), pending_since: new Date().toISOString() };
  const [former] = await get(newContext(), key);
  await put<OpenCommand>(newContext(), { ...key, ...listing, id, line, actor }, always);
  const again = `It may be half done. To finish it, run it again: ${line}`;
  const stop = () => {
    process.stderr.write(`\n${again}\n`);
    process.exit(1);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const end = () => remove<OpenCommand>(newContext(), key, [['id', '=', id]]);
  try {
    const result = await run();
    await end();
    return result;
  } catch (error) {
    const sentence = sentenceFor(error);
    // Its sentence says how to continue. A command that it replaced, such as before a mistyped option, is open.
    const isMistyped = former && openCommand(former).line !== line;
    if (error instanceof Rejection || error instanceof UsageError)
      await (isMistyped ? put<OpenCommand>(newContext(), openCommand(former), [['id', '=', id]]) : end());
    else if (sentence !== undefined) throw new Rejection(`${sentence} ${again}`, { cause: error });
    throw error;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

/** A sentence for each command that has not ended. */
export async function describeOpenCommands(): Promise<string[]> {
  const open = (await listItems(commandKey(''))).map((item) => openCommand(item));
  return open.map(
    ({ line, pending_since, actor }) =>
      `${actor} began this at ${pending_since}, and it has not ended. If it is not running, run it again: ${line}`,
  );
}
