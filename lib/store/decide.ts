import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { allEnded } from '../in-parallel.ts';
import { untilWritten } from './dynamodb.ts';
import { type Item, toAttributes } from './items.ts';
import type { Key } from './keys.ts';
import { get, queryAll, queryPage, readAll } from './read.ts';
import { type Write, write } from './write.ts';

/*
 * Read, decide, write: how every record that depends on others changes. A decision is a pure function of the
 * records that were read, so a test can call it without a store. It is written only over the state that it
 * was made for. If another writer was faster, the records are read and the decision is made again.
 */

/** One record; the records whose sort keys begin with the key's, all or a page after one; records. */
type Read =
  | Key
  | undefined
  | { below: Key | undefined; limit?: number; after?: Key | undefined }
  | { each: readonly Key[] };

/** What a decision depends on, each by the name under which the decision gets it. */
export type Named = Readonly<Record<string, Read>>;

export type Found<Reads extends Named> = {
  -readonly [Name in keyof Reads]: Reads[Name] extends Key | undefined ? Item | undefined : Item[];
};

export interface Reads<First extends Named, Then extends Named> {
  first: First;
  /** What the first records name. */
  following?: ((found: Found<First>) => Then | Promise<Then>) | undefined;
  /** The first records, if they were read just before. */
  seen?: Found<First> | undefined;
}

/** The id is made once, the time after each read, so that a history is in the order of its writes. */
export interface Once {
  id: string;
  now: number;
}

/** The writes, if any, are those of the result or of the error. */
export type Decision<Result> = ({ result: Result } | { error: Error }) & {
  /** A write that must come first. False if it was made for another state. */
  before?: ((context: Context) => Promise<boolean>) | undefined;
  writes?: readonly Write[];
  beside?: readonly Beside[];
};

/** Work next to the writes, whatever becomes of them. It logs its own failure. */
export type Beside = (context: Context) => Promise<unknown>;

export async function decide<First extends Named, Result, Then extends Named = Record<never, never>>(
  context: Context,
  { first, following, seen }: Reads<First, Then>,
  decision: (found: Found<First> & Found<Then>, once: Once) => Decision<Result>,
): Promise<Result> {
  const id = randomUUID();
  let known = seen;
  const decided = await untilWritten(context, async () => {
    const found = known ?? (await readAllOf(context, first));
    known = undefined;
    const more = following && (await readAllOf(context, await following(found)));
    const once: Once = { id, now: Date.now() };
    const made = decision({ ...found, ...more } as Found<First> & Found<Then>, once);
    const { before, writes = [], beside = [] } = made;
    if (before && !(await before(context))) return undefined;
    const [isWritten] = await allEnded([write(context, ...writes), ...beside.map((each) => each(context))]);
    return isWritten ? made : undefined;
  });
  if ('error' in decided) throw decided.error;
  return decided.result;
}

/** Reads records in one batch, and ranges in parallel to it. */
async function readAllOf<Reads extends Named>(context: Context, reads: Reads): Promise<Found<Reads>> {
  const keys = Object.values(reads).filter((read) => read !== undefined && 'pk' in read);
  const batch = get(context, ...keys);
  const foundFor = async (read: Read) => {
    if (!read) return undefined;
    if ('pk' in read) return (await batch)[keys.indexOf(read)];
    if ('each' in read) return readAll(context, read.each);
    const { below, limit, after } = read;
    if (!below) return [];
    if (limit === undefined) return queryAll(context, below);
    return (await queryPage(context, { below }, { limit, after: after && toAttributes(after) })).items;
  };
  const found = Object.entries(reads).map(async ([name, read]) => [name, await foundFor(read)] as const);
  return Object.fromEntries(await Promise.all(found)) as Found<Reads>;
}
