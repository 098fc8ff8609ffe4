import { expect, test } from '@jest/globals';

/** A script of the page, which has no types. */
const script = '../../tools/local/pages/host-nodes-read.js';
const { hostNodesRead }: { hostNodesRead: (version: object) => string | undefined } = await import(script);

const downloadUrl = 'http://localhost/a.zip';
const nodes = (count: number) => Array.from({ length: count }, () => ({}));

test.each<[string, object, string | undefined]>([
  ['an upload that is awaited', { status: 'pending', downloadUrl: undefined, count: 0 }, undefined],
  ['an archive that is being read', { status: 'pending', count: 0 }, 'being read out of the archive'],
  [
    'an archive that is being read, with an entry that a person wrote',
    { status: 'pending', count: 1 },
    '1 host node; the archive is still being read',
  ],
  ['a success', { status: 'success', count: 2 }, '2 host nodes'],
  [
    'a failure without host nodes',
    { status: 'failed', count: 0, reason: 'Why.' },
    'none could be read out of the archive: Why.',
  ],
  [
    'a failure with some host nodes',
    { status: 'failed', count: 2, reason: 'Why.' },
    '2 host nodes; not all of them could be read out of the archive: Why.',
  ],
])('the home page says of %s what became of its host nodes', (_, version, sentence) => {
  const { status, count, reason, ...rest } = {
    ...{ downloadUrl, reason: undefined },
    ...(version as { status: string; count: number }),
  };
  const extracted = { host_node_extract_status: status, host_node_extract_reason: reason };

  expect(hostNodesRead({ ...rest, ...extracted, host_nodes: nodes(count) })).toBe(sentence);
});
