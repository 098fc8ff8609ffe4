import { handler as alignRegistry } from '../../functions/align-registry.ts';
import { handler as extractHostNodes } from '../../functions/extract-host-nodes.ts';
import { handler as finalizeUpload } from '../../functions/finalize-upload.ts';
import { handler as selfService } from '../../functions/self-service.ts';
import { handler as updateHostNode } from '../../functions/update-host-node.ts';
import { handler as updateNode } from '../../functions/update-node.ts';
import { handler as writeIndex } from '../../functions/write-index.ts';
import { alignedRecord } from '../../lib/registry/records.ts';
import { laneOf } from '../../lib/work/lanes.ts';
import { runCommandLine } from '../../tools/admin/program.ts';
import { eventOf as messagesOf } from '../../tools/local/consume-queue.ts';
import { answerOf, type Handler, invoke, type Result } from '../support/invoke.ts';
import { publish } from '../support/publish.ts';
import { streamEventOf } from '../support/table-stream.ts';
import { bearer } from '../support/tokens.ts';
import { underPlan } from '../support/wire-faults.ts';
import { eventOf, workEvent } from '../support/uploads.ts';
import type { Upload } from '../../lib/bucket/object-keys.ts';
import type { NodeVersionRecord } from '../../lib/registry/records.ts';
import type { Item } from '../../lib/store/items.ts';
import { readItems, worldOf } from './worlds.ts';

/** How a work ended. What failed is repeated, if whoever calls it repeats it. */
export interface Ending {
  isDone: boolean;
  /** The status of an answer. */
  status?: number;
  /** The id of the version that it names. */
  versionId?: string;
}

export interface Work {
  /** Who calls it: a client may never come back; a service calls again until it ends well, as an administrator does. */
  by: 'client' | 'service' | 'administrator';
  /** An administrator's, who doesn't repeat it. */
  isDecision?: true;
  /** What must have happened before. */
  after?: Past;
  /** In the gate it meets only what `pairs` names with it. */
  isRare?: boolean;
  /** `id` stays the same when the work is repeated. */
  run: (id: string) => Promise<Ending>;
}

export type Past =
  | 'an index'
  | 'an upload'
  | 'a bad upload'
  | 'a second version'
  | 'a day'
  | 'no extraction'
  | 'a begun ban of the node'
  | 'a begun merge'
  | 'a ban of the node'
  | 'a ban of the publisher'
  | 'a begun ban of the publisher'
  | 'a ban of the version'
  | 'a withdrawal of the version';

export const invocation = (awsRequestId: string) => ({
  awsRequestId,
  getRemainingTimeInMillis: () => 60_000,
});

export const endpoint = (call: () => Promise<Result>): Work => ({
  by: 'client',
  run: async () => {
    const { status, body } = await call();
    return { isDone: status < 500, status, versionId: body?.node_version?.id };
  },
});

export const command = (line: string, after?: Past): Work => ({
  by: 'administrator',
  ...(after && { after }),
  run: async () => {
    const words = line.replace(/\{(\w+)\}/g, (_, name) => String(worldOf().known[name])).split(' ');
    const { status, stderr } = await runCommandLine(words);
    return { isDone: status === 0 || !/run it again|again\.$/i.test(stderr) };
  },
});

/** A decision whose command is not repeated: the lane `align` does what it leaves. */
const decision = (line: string, after?: Past): Work => ({ ...command(line, after), isDecision: true });

/** Does what the nodes and publishers owe, as far as one message of each goes. */
export async function align(id: string, items?: readonly Item[]): Promise<Ending> {
  const owing = (items ?? (await underPlan(undefined, readItems))).filter(
    (item) => laneOf(alignedRecord(item)) === 'align',
  );
  for (const { pk, sk, tries } of owing) {
    const message = { id, body: JSON.stringify({ pk, sk, tries }) };
    await alignRegistry(messagesOf([message]), invocation(id));
  }
  return { isDone: owing.length === 0 };
}

export const ended = async (work: Promise<unknown>): Promise<Ending> =>
  work.then(
    (answer) => ({
      isDone: !(answer as { batchItemFailures?: unknown[] } | undefined)?.batchItemFailures?.length,
    }),
    () => ({ isDone: false }),
  );

export const update = (body: object, headers = {}) =>
  invoke(updateNode, 'update-node', {
    path: { publisherId: 'acme', nodeId: 'pack' },
    body,
    headers: { authorization: bearer('olga'), ...headers },
  });

/** What a person asks of the self-service. */
export async function ask(
  routeKey: string,
  user: string,
  path: Record<string, string> = {},
  body: object = {},
): Promise<Result> {
  const headers = { authorization: bearer(user), 'content-type': 'application/json' };
  const route: Handler = (event, context) => selfService({ ...event, routeKey }, context);
  const answer = await answerOf(route, 'self-service', { path, body, headers });
  return { ...answer, body: answer.text === '' ? undefined : JSON.parse(answer.text) };
}

const editHostNode = () =>
  invoke(updateHostNode, 'update-host-node', {
    path: { nodeId: 'pack', version: '1.0.0', hostNodeName: 'Load' },
    body: { category: 'edited' },
    headers: { authorization: bearer('olga') },
  });

/** Sends S3's message about an upload. */
export function finalize(id: string, upload: Upload): Promise<Ending> {
  return ended(
    finalizeUpload(eventOf(upload), invocation(id)).then((answer) =>
      answer?.batchItemFailures.length ? answer : finalizeUpload(workEvent(upload, null), invocation(id)),
    ),
  );
}

/** Sends the message about a version to the lane that it owes. */
export async function workOff(version: NodeVersionRecord): Promise<void> {
  const { node_id: nodeId, version: label, tries } = version;
  const event = workEvent({ nodeId, version: label }, tries);
  await ended(
    (laneOf(version) === 'extract' ? extractHostNodes : finalizeUpload)(event, invocation('settled')),
  );
}

/** Delivers what the table's stream has gathered, or again what it delivered under this id and did not end. */
export async function follow(id: string): Promise<Ending> {
  const { stream, delivered, lines } = worldOf();
  const keys = delivered.get(id) ?? stream.splice(0);
  if (keys.length === 0) return { isDone: true };
  delivered.set(id, keys);
  const logged = lines.length;
  const ending = await ended(writeIndex(streamEventOf(...keys), invocation(id)));
  // What a slow store has left to the queue comes again.
  const isLeft = lines.slice(logged).some((line) => /"failed":[1-9]/.test(line));
  if (!ending.isDone || isLeft) return { isDone: false };
  delivered.delete(id);
  return ending;
}

/** The published version. */
const first = { nodeId: 'pack', version: '1.0.0' };

const known = (name: string) => JSON.parse(String(worldOf().known[name]));

/** What may happen to a registry. One entry is one kind of work. */
export const works: Record<string, Work> = {
  'publish of a version': endpoint(() => publish({ nodeId: 'pack', version: '1.2.0' })),
  'publish of a node': endpoint(() => publish({ nodeId: 'fresh' })),
  resume: endpoint(() => publish({ nodeId: 'pack', version: '1.1.0', node: { name: 'resumed' } })),
  deprecation: endpoint(() => publish({ nodeId: 'pack', fields: { deprecated: true } })),
  update: endpoint(() => update({ description: 'described' })),
  'update of a state': endpoint(() =>
    update({ tags: ['new'] }, { 'if-match': String(worldOf().known.etag) }),
  ),
  withdrawal: endpoint(() => update({ status: 'NodeStatusDeleted' })),
  'host node edit': endpoint(editHostNode),
  'upload event': { by: 'service', after: 'an upload', run: (id) => finalize(id, known('upload')) },
  // Nobody sends its message again.
  'try of an upload': {
    by: 'client',
    after: 'an upload',
    isRare: true,
    run: () => ended(finalizeUpload(workEvent({ ...first, version: '1.1.0' }), invocation('try'))),
  },
  'event of a bad archive': {
    by: 'service',
    after: 'a bad upload',
    run: (id) => finalize(id, known('upload')),
  },
  'look at an overdue version': {
    by: 'service',
    after: 'a day',
    run: (id) => ended(finalizeUpload(workEvent({ ...first, version: '1.1.0' }), invocation(id))),
  },
  extraction: {
    by: 'service',
    after: 'no extraction',
    run: (id) => ended(extractHostNodes(workEvent(first), invocation(id))),
  },
  'align of a ban': { by: 'service', after: 'a begun ban of the node', run: align },
  'align of a merge': { by: 'service', after: 'a begun merge', run: align },
  'align of a publisher': { by: 'service', after: 'a begun ban of the publisher', run: align },
  index: { by: 'service', after: 'an index', run: follow },
  'ban of a node': decision('node ban pack --reason spam'),
  // The lane has ended what the command of an earlier decision still works on.
  'align, ban of a node': {
    by: 'administrator',
    isDecision: true,
    isRare: true,
    run: async (id) => (await align(id)) && command('node ban pack --reason spam').run(id),
  },
  'unban of a node': decision('node unban pack', 'a ban of the node'),
  'unban of a begun ban': { ...decision('node unban pack', 'a begun ban of the node'), isRare: true },
  'ban of a version': decision('node-version ban pack 1.0.0 --reason bad'),
  'ban of the latest version': {
    ...decision('node-version ban pack 1.1.0 --reason bad', 'a second version'),
    isRare: true,
  },
  'unban of a version': decision('node-version unban pack 1.0.0', 'a ban of the version'),
  'withdrawal of a version': command('node-version withdraw pack 1.0.0'),
  'restoration of a version': command('node-version restore pack 1.0.0', 'a withdrawal of the version'),
  'drop of a version': command('node-version withdraw pack 1.1.0'),
  'ban of a publisher': decision('publisher ban acme --reason fraud'),
  'unban of a publisher': decision('publisher unban acme', 'a ban of the publisher'),
  transfer: decision('node transfer pack --to rival'),
  'transfer to a third': { ...decision('node transfer pack --to third'), isRare: true },
  rename: decision('publisher rename acme acme2'),
  merge: decision('publisher merge acme --into rival'),
  'merge the other way': { ...decision('publisher merge rival --into acme'), isRare: true },
  'revocation of a token': command('token revoke acme {token}'),
  'block of an owner': command('caller block olga --reason leaked'),
  'addition of a member': command('member add acme nina'),
  'removal of a member': command('member remove acme mats'),
  'token of a member': endpoint(() =>
    ask('POST /publishers/{publisherId}/tokens', 'mats', { publisherId: 'acme' }, { name: 'own' }),
  ),
};
