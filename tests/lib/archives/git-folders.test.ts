import { describe, expect, test } from '@jest/globals';
import { rejectGitFolders, findGitFolders } from '@node-registry/registry-rules/archives/names';

describe('rejectGitFolders', () => {
  test.each<[string, string[], string]>([
    ['at the top', ['HEAD', 'objects/keep', 'refs/keep', 'config'], 'git takes its top folder for a'],
    ['in a folder', ['a/b/HEAD', 'a/b/objects/x', 'a/b/refs/x'], 'the folder "a/b" for a repository'],
    ['of empty folders', ['bare/HEAD', 'bare/objects/', 'bare/refs/'], 'the folder "bare"'],
    ['of files, which Windows takes for enterable', ['x/HEAD', 'x/objects', 'x/refs'], 'the folder "x"'],
    ['where case is ignored', ['x/head', 'x/Objects/a', 'x/REFS/a'], 'the folder "x"'],
    ['where case beyond ASCII is ignored', ['x/HEAD', 'x/object\u017f/a', 'x/refs/a'], 'the folder "x"'],
    ['where signs without ink are ignored', ['x/HE\uFE0FAD', 'x/objects/a', 'x/refs/a'], 'the folder "x"'],
    ['that names the rest of itself', ['x/HEAD', 'x/commondir', 'y/objects/a', 'y/refs/a'], 'the folder "x"'],
    [
      'below its own objects',
      ['objects/refs/HEAD', 'objects/refs/objects/refs', 'objects/refs/refs/a'],
      'refs"',
    ],
    ['in a folder that grows when it is folded', ['ßß/HEAD', 'ßß/objects/', 'ßß/refs/'], 'the folder "ßß"'],
  ])('rejects a repository %s', (_, names, sentence) => {
    expect(() => rejectGitFolders(['node.py', ...names])).toThrow(sentence);
    expect(() => rejectGitFolders(names.toReversed())).toThrow(sentence);
  });

  test.each([
    [['HEAD', 'node.py']],
    [['objects/a.py', 'refs/b.py', 'node.py']],
    [['HEAD', 'objects/a.py']],
    [['HEAD', 'refs/a.py']],
    [['HEAD', 'a/objects/x', 'a/refs/x']],
    [['a/HEAD', 'b/objects/x', 'b/refs/x']],
    [['commondir', 'objects/x', 'refs/x']],
    [['a/HEAD.py', 'a/my-objects/x', 'a/refs.json', 'a/objects/x']],
  ])('accepts the names of an ordinary pack: %j', (names) => {
    expect(() => rejectGitFolders(names)).not.toThrow();
  });

  test('finds every repository, for a publisher who can still leave them out', () => {
    const names = ['', 'a/', 'a/b/'].flatMap((folder) => [`${folder}HEAD`, `${folder}commondir`]);

    expect([...findGitFolders(names)].map(({ folder }) => folder)).toEqual(['.', 'a', 'a/b']);
  });
});
