import { issueSentence } from '@node-registry/registry-rules/issue-sentence';
import * as z from 'zod/mini';
import { maxFilesAtOnce } from '../../../lib/bucket/public-file.ts';
import { inParallel } from '../../../lib/in-parallel.ts';
import { refreshPages } from '../../../lib/index/page-files.ts';
import { piecesWith, refreshPiece } from '../../../lib/index/catalog-files.ts';
import { refreshNode } from '../../../lib/index/node-files.ts';
import { ApiError } from '../../../lib/errors.ts';
import { parseObject } from '../../../lib/json.ts';
import { changeNumbers, type NumbersRecord } from '../../../lib/registry/numbers.ts';
import { command, readNamed, UsageError } from '../command.ts';
import { newContext, readNode } from '../registry/administration.ts';
import { findStage } from '../target.ts';

/** Each line of the catalog needs a query. */
const catalogMs = 10 * 60 * 1000;

const amount = z.optional(z.nullable(z.int().check(z.minimum(0))));

const Line = z.strictObject({
  node_id: z.string(),
  repo_stars: amount,
  rating: z.optional(z.nullable(z.number().check(z.minimum(0)))),
  downloads: amount,
});
type Given = Omit<z.infer<typeof Line>, 'node_id'>;

export const numbers = command({
  parameters: [],
  summary: 'Import stars, ratings and downloads of nodes from a file',
  notes:
    'The file has JSON lines: {"node_id":"demo-node","repo_stars":12,"rating":4.5,"downloads":1200}. A field that is absent is\nkept, and null clears it. Downloads are shown instead of the service’s own count. If interrupted, run it again.',
  options: { file: { value: 'FILE', about: 'The file with the numbers', required: true } },
  examples: ['node numbers --file stars.jsonl'],
  async run(_, { file }) {
    const lines = linesIn(String(await readNamed(file)));
    await findStage();
    const changed: string[] = [];
    const named: string[] = [];
    const problems: string[] = [];
    await inParallel(lines.entries(), maxFilesAtOnce, async ([nodeId, given]) => {
      const began = new Date().toISOString();
      const node = await readNode(nodeId).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        problems.push(error.message);
      });
      if (!node) return;
      const changedAt = await changeNumbers(newContext(), nodeId, (record) => withNumbers(record, given));
      const isChanged = changedAt !== undefined && changedAt >= began;
      if (isChanged) changed.push(nodeId);
      named.push(nodeId);
      // An earlier run may have died between the numbers and the index.
      await refreshNode(newContext(), nodeId, [], !isChanged);
      await refreshPages(newContext(), nodeId, [], !isChanged);
    });
    const soon = { deadline: Date.now() + catalogMs };
    const pieces = await piecesWith(soon, named);
    await inParallel(pieces.entries(), maxFilesAtOnce, ([path, ids]) => refreshPiece(soon, path, ids));
    return {
      data: { nodes: lines.size, changed },
      text: `The numbers of ${changed.length} of ${lines.size} nodes changed.`,
      problem: problems.length > 0 ? problems.join('\n') : undefined,
    };
  },
});

/** The file's fields for each node; of several lines about one field, the last one counts. */
function linesIn(text: string): Map<string, Given> {
  const given = new Map<string, Given>();
  for (const [place, line] of text.replace('\ufeff', '').split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = parseObject(line);
    const { data, error } = Line.safeParse(value);
    if (error) throw new UsageError(`Line ${place + 1} is not valid: ${problemIn(error.issues[0], value)}`);
    const { node_id, ...fields } = data;
    given.set(node_id, { ...given.get(node_id), ...fields });
  }
  return given;
}

function problemIn(issue: z.core.$ZodIssue | undefined, value: unknown): string {
  if (!issue || value === undefined) return 'it is not a JSON object';
  if (issue.code === 'unrecognized_keys') return `${issue.keys[0]} is not a field`;
  return `${issue.path.join('.')} ${issueSentence(issue, value)}`;
}

function withNumbers(record: NumbersRecord, given: Given): NumbersRecord {
  const { repo_stars, rating, downloads, ...rest } = record;
  const all = { repo_stars, rating, downloads, ...given };
  const present = Object.entries(all).filter(([, value]) => value !== null && value !== undefined);
  return { ...rest, ...Object.fromEntries(present) };
}
