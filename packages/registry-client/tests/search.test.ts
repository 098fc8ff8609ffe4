import { expect, test } from '@jest/globals';
import { searchOver } from '../search.ts';

test.each([
  ['a beginning', 'upsc', ['upscaler']],
  ['a typo', 'upscalar', ['upscaler']],
  ['a part of a joined word', 'helper', ['joined']],
  ['a word without its accent', 'creme', ['accented']],
  ['a character of a script without spaces', '節點', ['chinese']],
  ['a tag and a publisher', 'acme film', ['tagged']],
  ['the higher ranked first, then the more downloaded', 'shared', ['b', 'c', 'a']],
  [
    'a word of an id before one of a description, whatever else an entry says',
    'invert',
    ['my-invert', 'masks'],
  ],
  ['only what has every word', 'film helper', []],
  ['a host node by a word of its title', 'stabilize', ['pack']],
  ['a host node by its name, next to the pack', 'pack INPAINT_StabilizeMask', ['pack']],
])('search finds %s', (_, text, ids) => {
  const entry = { publisher: { id: 'demo' }, updated_at: '2026-01-01T00:00:00Z' };
  const search = searchOver([
    { ...entry, id: 'upscaler' },
    { ...entry, id: 'a', tags: ['shared'], downloads: 9 },
    { ...entry, id: 'b', tags: ['shared'], search_ranking: 3 },
    { ...entry, id: 'c', tags: ['shared'], downloads_90_days: 5, downloads: 5 },
    { ...entry, id: 'joined', name: 'VideoHelperSuite' },
    { ...entry, id: 'accented', description: 'A crème of nodes' },
    { ...entry, id: 'chinese', name: '影片節點工具' },
    { ...entry, id: 'pack', host_node_words: 'inpaint mask stabilize' },
    { ...entry, id: 'masks', description: 'To invert masks', downloads_90_days: 9 },
    { ...entry, id: 'my-invert', description: 'Inverts a picture' },
    { ...entry, id: 'tagged', tags: ['film'], publisher: { id: 'a', name: 'Acme' } },
  ]);

  expect(search(text).map(({ id }) => id)).toEqual(ids);
});
