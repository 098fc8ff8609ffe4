import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { refreshCatalog, refreshNode } from '../../../lib/index/write-files.ts';
import { changeNumbers, type NumbersRecord } from '../../../lib/registry/numbers.ts';
import { command, UsageError } from '../command.ts';
import { newContext } from '../registry/administration.ts';
import { Rejection } from '../registry/rejection.ts';
import { findStage } from '../stage.ts';

const amount = z.optional(z.nullable(z.int().check(z.minimum(0))));

const Line = z.strictObject({
  node_id: z.string(),
  repo_stars: amount,
  rating: z.optional(z.nullable(z.number().check(z.minimum(0)))),
  downloads: amount,
});
type Line = z.infer<typeof Line>;

export const numbers = command({
  parameters: [],
  summary: 'Take over stars, ratings and downloads of nodes from a file',
  notes:
    'The file has JSON lines: {"node_id":"demo-node","repo_stars":12,"rating":4.5,"downloads":1200}. A field that is absent is\nkept, and null clears it. Downloads are shown in place of what the service counted itself.',
  options: { file: { value: 'FILE', about: 'The file with the numbers', required: true } },
  examples: ['node numbers --file stars.jsonl'],
  async run(_, { file }) {
    const text = await readFile(file, 'utf8').catch((error: Error) => {
      throw new Rejection(`The file can't be read: ${error.message}`);
    });
    const lines = linesIn(text);
    await findStage();
    const began = new Date().toISOString();
    const changed: string[] = [];
    for (const { node_id, ...given } of lines) {
      const changedAt = await changeNumbers(newContext(), node_id, (record) => withNumbers(record, given));
      if (changedAt !== undefined && changedAt >= began) changed.push(node_id);
    }
    for (const nodeId of changed) await refreshNode(newContext(), nodeId, []);
    await refreshCatalog(newContext(), changed, () => async (work) => void (await work()));
    return {
      data: { lines: lines.length, changed },
      text: `The numbers of ${changed.length} of ${lines.length} nodes changed.`,
    };
  },
});

function linesIn(text: string): Line[] {
  return text.split('\n').flatMap((line, place) => {
    if (line.trim() === '') return [];
    try {
      return Line.parse(JSON.parse(line));
    } catch (error) {
      throw new UsageError(`Line ${place + 1} is not valid: ${(error as Error).message}`);
    }
  });
}

function withNumbers(record: NumbersRecord, given: Omit<Line, 'node_id'>): NumbersRecord {
  const { repo_stars, rating, downloads, ...rest } = record;
  const all = { repo_stars, rating, downloads, ...given };
  const present = Object.entries(all).filter(([, value]) => value !== null && value !== undefined);
  return { ...rest, ...Object.fromEntries(present) };
}
