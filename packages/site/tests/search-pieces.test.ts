import { describe, expect, test } from '@jest/globals';
import { findInPieces } from '../pages/find-in-pieces.ts';
import { maxOfWord, searchPiecesOf } from '../search-pieces.ts';
import { entriesOf, listed, manyNodes } from './listed-nodes.ts';

const of = (id: string, fields: object = {}) => ({ ...entriesOf([listed(id)])[0], ...fields });
const entries = [
  of('most-used', { description: 'Relight and blend with an upscaler', tags: ['image'] }),
  of('relight', { name: 'Relight', tags: ['image', 'c++'] }),
  of('relight-two', { name: 'Relight a portrait', preempted_host_node_names: ['KSampler (Fast)'] }),
  of('joined', { name: 'VideoHelperSuite', host_node_words: 'constructor stabilize' }),
  of('blend', { publisher: { id: 'b', name: 'Crème' }, supported_os: ['OS Independent'] }),
  of('emoji', { name: '🎬 Film' }),
  of('cpp', { name: 'C++ tools' }),
  of('fancy', { name: '𝗔𝗜𝗢 𝓖' }),
  of('chinese', { name: '影片節點工具' }),
] as ReturnType<typeof entriesOf>;

const search = async (text: string, tag = '', all = entries, system = '') => {
  const pieces = searchPiecesOf(all);
  const loaded = new Set<number>();
  const load = async (piece: number) => {
    loaded.add(piece);
    return pieces.get(piece) ?? { nodes: [], words: {} };
  };
  return { ...(await findInPieces(load, text, { tag, system, accelerator: '' })), loaded: loaded.size };
};

describe('a search of pieces', () => {
  test.each([
    ['a word, by what it says of a node, then by use', 'relight', ['relight', 'relight-two', 'most-used']],
    ['a beginning, with a word that is not typed yet', 'relight po', ['relight', 'relight-two', 'most-used']],
    ['every word', 'blend upsc', ['most-used']],
    ['a whole name first', 'relight a portrait', ['relight-two']],
    ['a host node by its whole name', 'ksampler (fast)', ['relight-two']],
    ['a joined word and its parts', 'VideoHelperSuite', ['joined']],
    ['the parts of a joined word', 'HelperSuite', ['joined']],
    ['a word that objects have', 'constructor', ['joined']],
    ['swapped letters', 'blned', ['blend', 'most-used']],
    ['a typo in the first letters', 'rleight', ['relight', 'relight-two', 'most-used']],
    ['an added first letter', 'xrelight', ['relight', 'relight-two', 'most-used']],
    ['a typo behind them', 'upscalar', ['most-used']],
    ['a word without its accent', 'creme', ['blend']],
    ['letters of another style', 'aio', ['fancy']],
    ['a sign that belongs to a word', 'c++', ['cpp', 'relight']],
    ['a character of a script without spaces', '節', ['chinese']],
    ['a picture', '🎬', ['emoji']],
    ['nothing', 'nothing', []],
  ])('finds %s', async (_, text, ids) => {
    const { ids: found, loaded } = await search(text);

    expect(found).toEqual(ids);
    expect(loaded).toBeLessThanOrEqual(8);
  });

  test('keeps to a tag and a system', async () => {
    expect((await search('relight', 'c++')).ids).toEqual(['relight']);
    expect((await search('', 'image')).ids).toEqual(['most-used', 'relight']);
    expect((await search('', '', entries, 'linux')).ids).toEqual(['blend']);
  });

  test('knows that a frequent word has more nodes, and still finds all of a rare one', async () => {
    const many = [...entriesOf(manyNodes(1500)), of('last', { description: 'of every rarest' })];
    const all = many as typeof entries;

    expect(await search('every', '', all)).toMatchObject({ ids: { length: maxOfWord }, isCut: true });
    expect(await search('every rarest', '', all)).toMatchObject({ ids: ['last'], isCut: false });
  });

  test('stay as they are when only a version changes', () => {
    const after = entries.map((entry) => ({ ...entry, latest_version: '9.0.0', updated_at: 'later' }));

    expect(searchPiecesOf(after)).toEqual(searchPiecesOf(entries));
  });
});
