import { isDeepStrictEqual } from 'node:util';
import { createPublicIndex } from 'registry-client';
import { demo } from '../../tools/local/demo.ts';
import { type Actor, hold } from './actor.ts';
import type { State } from './journeys.ts';

/** The labels that journeys publish, highest first as in the index. */
const labels = ['3.0.0', '2.0.0', '1.3.0', '1.2.0', '1.1.0', '1.0.0'];

/** Once no event of a node waits, its extractions have ended, and the index says what the API says. */
export async function requireSettled(actor: Actor, state: State): Promise<void> {
  const said = await ofApi(actor, state);
  const extractions = said.versions.map((version) => version.host_node_extract_status);
  hold(
    'no extraction is lost',
    extractions.every((status) => status === 'success'),
    extractions,
  );
  const found = await ofIndex(actor, state).catch((error: Error) => error.message);
  hold('the index says what the table says', isDeepStrictEqual(found, said), { found, said });
}

async function ofApi(actor: Actor, { id, node, publisher }: State) {
  const user = `owner-${id}`;
  const nodeId = String(node);
  const node_versions = labels.map((version) => ({ node_id: nodeId, version }));
  const { body: bulk } = await actor.call('bulk-node-versions', { body: { node_versions } });
  const versions = bulk.node_versions.flatMap(({ node_version }) =>
    node_version?.downloadUrl === undefined ? [] : [node_version],
  );
  const path = { publisherId: String(publisher), nodeId };
  const { body } = await actor.call('update-node', { user, path, body: {} });
  const latest = body.latest_version?.version;
  const hostNodes = versions.map(async ({ version = '' }) => {
    const place = { nodeId, version, hostNodeName: demo.hostNodeName };
    return (await actor.call('update-host-node', { user, path: place, body: {} })).body;
  });
  return {
    versions,
    node: [latest, body.description],
    line: [latest, body.description],
    readme: latest,
    hostNodes: await Promise.all(hostNodes),
  };
}

/** As a website reads it. */
async function ofIndex(actor: Actor, state: State) {
  const id = String(state.node);
  const index = createPublicIndex({ downloadsUrl: String(actor.stage.environment.DOWNLOAD_BASE_URL) });
  const node = await index.node(id);
  const versions = node?.versions ?? [];
  const line = (await index.catalog()).find((entry) => entry.id === id);
  const readme = await index.readme(id);
  const hostNodes = versions.map(async ({ version = '' }) => {
    const { host_nodes = [] } = (await index.hostNodes(id, version)) ?? {};
    return host_nodes.find(({ host_node_name }) => host_node_name === demo.hostNodeName);
  });
  return {
    versions,
    node: [node?.latest_version?.version, node?.description],
    line: [line?.latest_version, line?.description],
    readme: readme?.version,
    hostNodes: await Promise.all(hostNodes),
  };
}
