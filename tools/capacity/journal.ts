import type { MeteredCall } from '../local/dynamodb-meter.ts';
import type { Target } from '../local/dynamodb-units.ts';

type Service = 'table' | 'bucket' | 'queue' | 'provider';

/** One call on the wire, from its arrival to its answer. */
export interface Entry {
  service: Service;
  began: number;
  ended: number;
  /** Such as `UpdateItem`, or `PUT`. */
  operation: string;
  /** Of a bucket: the path of the object. */
  path?: string;
  units?: Omit<MeteredCall, 'operation'>;
}

/** What one piece of work asked of the stores. */
export interface Count {
  reads: number;
  writes: number;
  /** The part of the writes that indexes take. */
  indexWrites: number;
  /** Waves of calls to the table and the bucket: those that leave together are one. */
  rounds: { before: number; after: number };
  puts: number;
  gets: number;
  messages: number;
  /** The units by partition key. */
  partitions: { reads: Map<string, number>; writes: Map<string, number> };
  /** The items that were written, with their units. */
  written: { target: Target; units: number }[];
  /** The paths of the objects that were written. */
  objects: string[];
}

/** Every call of the functions, as the fronts of the stores see them. */
export class Journal {
  #entries: Entry[] = [];

  /** To be called when a call arrives; what it returns, when it is answered. */
  begin(service: Service): (rest: Omit<Entry, 'service' | 'began' | 'ended'>) => void {
    const began = performance.now();
    return (rest) => void this.#entries.push({ service, began, ended: performance.now(), ...rest });
  }

  /** What was counted since the last call. */
  take(): Count {
    const entries = this.#entries;
    this.#entries = [];
    return countOf(entries);
  }
}

function countOf(entries: readonly Entry[]): Count {
  const units = entries.flatMap((entry) => entry.units ?? []);
  const sent = entries.find(({ service }) => service === 'provider');
  const waited = entries.filter(({ service }) => service === 'table' || service === 'bucket');
  const ofBucket = entries.filter(({ service }) => service === 'bucket');
  // A copy is a PUT.
  const puts = ofBucket.filter(({ operation }) => operation === 'PUT');
  const gets = ofBucket.filter(({ operation }) => operation === 'GET' || operation === 'HEAD');
  return {
    reads: sumOf(units.map(({ reads }) => reads)),
    writes: sumOf(units.map(({ writes }) => writes)),
    indexWrites: sumOf(units.map(({ indexWrites }) => indexWrites)),
    rounds: {
      before: wavesIn(waited.filter(({ began }) => !sent || began < sent.began)),
      after: wavesIn(waited.filter(({ began }) => sent && began > sent.began)),
    },
    puts: puts.length,
    gets: gets.length,
    messages: entries.filter(({ service }) => service === 'queue').length,
    partitions: {
      reads: byPartition(units.filter(({ reads }) => reads > 0)),
      writes: byPartition(units.filter(({ writes }) => writes > 0)),
    },
    written: units.filter(({ writes }) => writes > 0).flatMap(({ targets }) => targets),
    objects: puts.map(({ path = '' }) => path),
  };
}

/** The most calls that each began after the end of the one before: a call beside a wave joins it, however long it takes. */
function wavesIn(entries: readonly Entry[]): number {
  let [waves, end] = [0, Number.NEGATIVE_INFINITY];
  for (const { began, ended } of entries.toSorted((a, b) => a.ended - b.ended)) {
    if (began < end) continue;
    waves += 1;
    end = ended;
  }
  return waves;
}

function byPartition(calls: readonly Pick<MeteredCall, 'targets'>[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { target, units } of calls.flatMap(({ targets }) => targets))
    sums.set(target.partition, (sums.get(target.partition) ?? 0) + units);
  return sums;
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
