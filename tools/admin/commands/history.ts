import type { HistoryRecord } from '../../../lib/registry/records.ts';
import { nodeKey, publisherKey } from '../../../lib/store/keys.ts';
import { command } from '../command.ts';
import { listHistory, readNode, readPublisher } from '../registry/administration.ts';
import { tableOf } from '../view.ts';

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

function answer(history: HistoryRecord[], none: string) {
  const data = history.map(({ at, actor, action, subject, detail }) => ({
    at,
    actor,
    action,
    subject,
    detail,
  }));
  return { data, text: tableOf(data, none) };
}
