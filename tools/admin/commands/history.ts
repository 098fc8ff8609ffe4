import type { HistoryRecord } from '../../../lib/registry/records.ts';
import { nodeKey, publisherKey } from '../../../lib/store/keys.ts';
import { table } from '@node-registry/command-line/table';
import { command, UsageError } from '../command.ts';
import { listHistorySince } from '../listing.ts';
import { listHistory, readNode, readPublisher } from '../registry/administration.ts';

export const ofPublisher = command({
  parameters: ['publisher'],
  summary: 'List the changes of administrators to a publisher, its members and its tokens',
  readsOnly: true,
  notes:
    'The latest change comes first. The actor is who AWS says called, and ADMIN_ACTOR in parentheses; on the local stack, ADMIN_ACTOR or the user and machine.',
  examples: ['history publisher acme', 'history publisher acme --json'],
  async run({ publisher: id }) {
    const history = await listHistory(publisherKey(id));
    // A renamed or merged publisher keeps its own history.
    if (history.length === 0) await readPublisher(id);
    return answer(history, `No changes are recorded for "${id}".`);
  },
});

export const ofNode = command({
  parameters: ['node'],
  summary: 'List the changes of owners and administrators to a node and its versions',
  readsOnly: true,
  examples: ['history node demo-node'],
  async run({ node: nodeId }) {
    await readNode(nodeId);
    return answer(await listHistory(nodeKey(nodeId)), `No changes are recorded for "${nodeId}".`);
  },
});

export const since = command({
  parameters: [],
  summary:
    'Print every change to publishers, nodes and callers since a time, one JSON object a line, the oldest first',
  readsOnly: true,
  notes: 'Reads the whole table.',
  options: { since: { value: 'TIME', about: 'Such as 2026-11-20 or 2026-11-20T12:00:00Z', required: true } },
  examples: ['history list --since 2026-11-20'],
  async run(_, { since }) {
    const time = Date.parse(since);
    if (Number.isNaN(time)) throw new UsageError(`"${since}" is not a time.`);
    const entries = await listHistorySince(new Date(time).toISOString());
    const data = entries.map((one) => ({ ...shown(one), of: one.pk.split('#', 2).join(' ').toLowerCase() }));
    return { data, text: data.map((entry) => JSON.stringify(entry)).join('\n') };
  },
});

function shown({ at, actor, action, subject, detail }: HistoryRecord) {
  return { at, actor, action, subject, detail };
}

function answer(history: HistoryRecord[], none: string) {
  const data = history.map(shown);
  const text = table(['TIME', 'ACTOR', 'ACTION', 'SUBJECT', 'DETAIL'], data.map(Object.values), { none });
  return { data, text };
}
