import type { HistoryRecord } from '../../../lib/registry/records.ts';
import { nodeKey, publisherKey } from '../../../lib/store/keys.ts';
import { table } from 'command-line/table';
import { command } from '../command.ts';
import { listHistory, newContext } from '../registry/administration.ts';
import { readNode, readPublisher } from '../registry/records.ts';

export const ofPublisher = command({
  parameters: ['publisher'],
  summary: 'List what administrators changed about a publisher, its members and its tokens',
  readsOnly: true,
  notes:
    'The latest change comes first. The actor is the user and machine of the command line, or ADMIN_ACTOR.',
  options: {},
  examples: ['history publisher acme', 'history publisher acme --json'],
  async run({ publisher: id }) {
    await readPublisher(newContext(), id);
    return answer(await listHistory(publisherKey(id)), `No changes are recorded for "${id}".`);
  },
});

export const ofNode = command({
  parameters: ['node'],
  summary: 'List what its owners and administrators changed about a node and its versions',
  readsOnly: true,
  options: {},
  examples: ['history node demo-node'],
  async run({ node: nodeId }) {
    await readNode(newContext(), nodeId);
    return answer(await listHistory(nodeKey(nodeId)), `No changes are recorded for "${nodeId}".`);
  },
});

function answer(history: HistoryRecord[], none: string) {
  const rows = history.map(({ at, actor, action, subject, detail }) => [at, actor, action, subject, detail]);
  return {
    data: history.map(({ at, actor, action, subject, detail }) => ({ at, actor, action, subject, detail })),
    text: table(['TIME', 'ACTOR', 'ACTION', 'SUBJECT', 'DETAIL'], rows, { none }),
  };
}
