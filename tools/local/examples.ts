import { setTimeout as pause } from 'node:timers/promises';
import { createPublicIndex, createRegistryClient } from '@node-registry/registry-client';
import { refreshIndex } from '../../lib/downloads/count-downloads.ts';
import { changeNumbers, dayBefore, publicDays } from '../../lib/registry/numbers.ts';
import { nodeKey } from '../../lib/store/keys.ts';
import { bucketName, localAddress, localDirectory, ports } from './addresses.ts';
import { demo } from './demo.ts';
import examples from './examples.json' with { type: 'json' };
import { zipOf } from './demo-archive.ts';
import { issueToken, loadSigningKey } from './issuer.ts';
import { admit } from './seed.ts';

const { publishers, nodes } = examples;
type Example = (typeof nodes)[number];

const maxTries = 60;
const pauseMs = 500;

/*
 * A part of npm start: publishes the example nodes that are missing, through the API as their publishers would,
 * and ends once the index has them.
 */
async function publishExamples(): Promise<void> {
  const accessToken = issueToken(await loadSigningKey(localDirectory), { user: demo.owner });
  const registry = createRegistryClient({ baseUrl: localAddress(ports.api), accessToken });
  const publish = async ({ publisher, id, node, versions, ...pack }: Example) => {
    for (const version of versions) {
      const archive = await archiveOf(pack, version.version);
      const personalAccessToken = demo.personalAccessToken;
      await registry.publish({
        publisherId: publisher,
        nodeId: id,
        node,
        version,
        personalAccessToken,
        archive,
      });
    }
  };
  const pairs = nodes.flatMap(({ id, versions }) =>
    versions.map(({ version }) => ({ node_id: id, version })),
  );
  const known = await registry.versions.bulk(pairs);
  const missing = new Set(
    pairs.flatMap(({ node_id }, place) => (known[place]?.node_version?.downloadUrl ? [] : node_id)),
  );
  await Promise.all(
    publishers.map(async (publisher) => {
      const own = nodes.filter((each) => each.publisher === publisher.id && missing.has(each.id));
      if (own.length > 0) await admit({ deadline: Date.now() + 60_000 }, publisher);
      for (const each of own) await publish(each);
    }),
  );
  await countDownloads(nodes.filter(({ id }) => missing.has(id)));
  const downloadsUrl = `${localAddress(ports.s3)}/${bucketName}`;
  for (let tries = 0; tries < maxTries; tries += 1) {
    // Each reads anew: an index keeps what it has read for a while.
    const catalog = await createPublicIndex({ downloadsUrl }).catalog();
    const listed = catalog.filter(({ downloads }) => downloads !== undefined);
    if (nodes.every(({ id }) => listed.some((entry) => entry.id === id))) return;
    await pause(pauseMs);
  }
}

function archiveOf({ hostNodes, readme }: Pick<Example, 'hostNodes' | 'readme'>, version: string) {
  const classes = hostNodes.map(
    ({ name, category, description, inputs, outputs }, place) => `
class Node${place}:
    CATEGORY = ${JSON.stringify(category)}
    DESCRIPTION = ${JSON.stringify(description)}
    FUNCTION = "run"
    RETURN_TYPES = ${JSON.stringify(outputs)}

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": ${JSON.stringify(inputs)}}

NODE_CLASS_MAPPINGS[${JSON.stringify(name)}] = Node${place}
`,
  );
  const code = `VERSION = "${version}"\nNODE_CLASS_MAPPINGS = {}\n${classes.join('')}`;
  return zipOf({ '__init__.py': code, ...(readme !== '' && { 'README.md': readme }) });
}

/** 90 days of downloads, which a stage counts from its logs day by day. */
async function countDownloads(nodes: readonly Example[]): Promise<void> {
  const context = { deadline: Date.now() + 60_000 };
  for (const { id, daily, versions } of nodes) {
    const amounts = Array.from({ length: publicDays }, (_, ago) => {
      const wave = 1 + Math.sin(ago * 1.7 + id.length) / 3 + Math.sin((ago / 7) * 2 * Math.PI) / 4;
      return [dayBefore(ago), Math.round(daily * wave * (1.3 - ago / publicDays))] as const;
    });
    const total = amounts.reduce((sum, [, amount]) => sum + amount, 0);
    const before = { [versions.at(-1)?.version ?? '']: total };
    await changeNumbers(context, id, (record) => ({ ...record, before, days: Object.fromEntries(amounts) }));
  }
  await refreshIndex(
    context,
    nodes.map(({ id }) => nodeKey(id)),
  );
}

await publishExamples();
