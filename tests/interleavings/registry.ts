import { makeWorld, memo, readItems, worldOf } from './worlds.ts';
import { zip } from '@node-registry/testing/zip';
import { setNodeBan, setPublisherBan } from '../../lib/registry/bans.ts';
import { movePublisher } from '../../lib/registry/moves.ts';
import { keyOf, nodeVersionKey } from '../../lib/store/keys.ts';
import { admin, adminJson } from '../support/admin.ts';
import { keysBelow } from '../support/bucket-objects.ts';
import { addPublishers, publish } from '../support/publish.ts';
import { addPublisher, setFields, soon } from '../support/registry.ts';
import { put, uploadAt } from '../support/uploads.ts';
import type { Room } from './cases.ts';
import { brokenInvariants, owingVersions, readRegistry } from './invariants.ts';
import { align, finalize, follow, type Past, update, workOff, works } from './works.ts';

const code = `class Load:
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"image": ("IMAGE",)}}
    RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {"Load": Load}
`;
const archive = zip([
  { name: '__init__.py', data: code },
  { name: 'README.md', data: '# Pack' },
]);

/** A node with a version that is published, and one that waits for its archive. */
const begun = memo(() =>
  makeWorld(async () => {
    await addPublishers();
    await addPublisher('third', {});
    const first = uploadAt((await publish({ nodeId: 'pack' })).body.signedUrl);
    await put(first, archive);
    await finalize('made', first);
    const second = uploadAt((await publish({ nodeId: 'pack', version: '1.1.0' })).body.signedUrl);
    const [{ id: token }] = await adminJson('token', 'list', 'acme');
    return { upload: JSON.stringify(second), token };
  }),
);

const run = (line: string) => async () => {
  const { status, stderr } = await admin(...line.split(' '));
  if (status !== 0) throw new Error(stderr);
};

/** In this order: a banned version can't be withdrawn. */
const steps: Record<Past, () => Promise<unknown>> = {
  // News that the stream has not delivered yet.
  'an index': async () => {
    await update({ name: 'New name' });
    await publish({ nodeId: 'pack', fields: { deprecated: true } });
  },
  'no extraction': () => Promise.resolve(),
  'an upload': () => put(JSON.parse(String(worldOf().known.upload)), archive),
  'a bad upload': () => put(JSON.parse(String(worldOf().known.upload)), Buffer.from('This is not a zip.')),
  'a second version': async () => {
    const upload = JSON.parse(String(worldOf().known.upload));
    await put(upload, archive);
    await finalize('made', upload);
  },
  'a day': () => setFields(nodeVersionKey('pack', '1.1.0'), { at: '2026-01-01T00:00:00.000Z' }),
  'a withdrawal of the version': run('node-version withdraw pack 1.0.0'),
  'a ban of the node': run('node ban pack --reason spam'),
  'a begun ban of the node': () => setNodeBan(soon(), { operator: 'admin' }, 'pack', 'spam'),
  'a begun merge': () => movePublisher(soon(), { operator: 'admin' }, 'merge', 'acme', 'rival'),
  'a ban of the publisher': run('publisher ban acme --reason fraud'),
  'a begun ban of the publisher': () => setPublisherBan(soon(), { operator: 'admin' }, 'acme', 'fraud'),
  'a ban of the version': run('node-version ban pack 1.0.0 --reason bad'),
};

const worldAfter = (...past: Past[]) =>
  makeWorld(async () => {
    if (!past.includes('no extraction')) await works.extraction?.run('made');
    // Other works do not need one.
    if (past.includes('an index')) await follow('made');
    // A banned publisher can't be merged.
    const isBanned = past.some((step) => step.endsWith('ban of the publisher'));
    const taken = isBanned ? past.filter((step) => step !== 'a begun merge') : past;
    for (const [step, take] of Object.entries(steps)) if (taken.includes(step as Past)) await take();
    const { etag = '' } = (await update({})).headers;
    return { etag, ...(past.some((step) => step.endsWith('upload')) && { isUploaded: 'yes' }) };
  }, begun());

const maxRounds = 5;

/** What the services do later: finishes what is listed, until nothing is that can be. Returns what there is then. */
async function settle() {
  for (let round = 1; ; round += 1) {
    const [items, keys] = await Promise.all([readItems(), keysBelow('')]);
    const owing = owingVersions({ items, keys });
    // A publisher that has moved, and a node with two decisions, are looked at again later.
    const past = '2026-11-01T00:00:00.000Z';
    for (const { pk, sk, intent, moved_to, again_at } of items)
      if (intent && (moved_to || again_at))
        await setFields(keyOf({ pk, sk }), moved_to ? { moved_at: past } : { again_at: past });
    const aligned = await align('settled', items);
    if ((aligned.isDone && owing.length === 0) || round > maxRounds) return { items, keys };
    for (const version of owing) await workOff(version);
  }
}

export const registry: Room = {
  works,
  worldAfter,
  // A later state, while the first work still writes an earlier one.
  followUp: async (names) => (names.includes('index') ? follow('second') : undefined),
  problems: async (names, endings) => {
    const left = await settle();
    const isIndexed = names.includes('index');
    // A slow store may leave some of it to another round, of whichever work.
    for (let round = 0; isIndexed && round < maxRounds; round += 1) {
      for (const id of [...worldOf().delivered.keys(), 'settled']) await follow(id);
      if (worldOf().delivered.size === 0) break;
    }
    return brokenInvariants(readRegistry(left, endings, isIndexed));
  },
  pairs: [
    'upload event | ban of a node',
    'upload event | resume',
    'index | unban of a publisher',
    'index | transfer',
    'transfer | ban of a publisher',
    'rename | publish of a node',
    'publish of a node | rename',
    'publish of a version | transfer',
    'publish of a version | ban of a node',
    'removal of a member | token of a member',
    'token of a member | removal of a member',
    ...['publish of a node', 'revocation of a token', 'addition of a member'].map(
      (each) => `merge | ${each}`,
    ),
  ],
  cases: [
    // The node was read after its versions.
    'ban of a version | upload event | meet | 3',
    'ban of a version | upload event | meet | 4',
    'withdrawal of a version | upload event | meet | 3',
    // Nobody looked for an archive that was copied after the ban had.
    'try of an upload | ban of a node | last | 7',
    // An unban that died had made the archive readable again.
    'unban of a node | ban of a node | last | 8',
    'unban of a node | align, ban of a node | last | 8',
    // The condition on the version itself: an extraction of one that its node doesn't show changes no node.
    'restoration of a version | extraction | meet | 6',
    // The same of one that its node shows only from then on.
    'ban of the latest version | extraction | meet | 5',
    // The versions were listed before the node was read.
    'ban of the latest version | restoration of a version | meet | 2',
    // The version still named the publisher that had begun it.
    'transfer | upload event | meet | 6',
    // The ban had hidden the host nodes of a version that didn't follow it.
    'unban of a begun ban | index | meet | 1',
  ],
};
