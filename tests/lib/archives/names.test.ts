import { posix, win32 } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkName, findClashes, findGitFolders } from '@node-registry/registry-rules/archives/names';
import { cpuMsOf } from '@node-registry/testing/cpu';
import { fc } from '@node-registry/testing/properties';

describe('checkName', () => {
  test.each([
    'a.py',
    '..a/b..c/..d',
    'my node/read me.py',
    'späße/ノード.py',
    '🦊.json',
    '\u2699\ufe0f settings.py',
    'console.py',
    'aux_nodes/com10.txt',
    'com/lpt/nulls',
    `${'f/'.repeat(64)}a`,
    'f/'.repeat(64),
    `${'x'.repeat(255)}/${'ä'.repeat(127)}`,
    `${'x'.repeat(199)}/`.repeat(5),
    ...'a;b.py v;1.py .gitignore .github/workflows/.gitattributes docs/.gitkeep a.git/b git~/git1'.split(' '),
  ])('accepts the name %j', (name) => {
    expect(() => checkName(name)).not.toThrow();
  });

  test.each([
    ['that is empty', '', 'a file without a name'],
    ['of more than 1,000 characters', 'x'.repeat(1001), 'has more than 1000 characters'],
    ['with NUL', 'x.py\0.txt', 'characters that are not text'],
    ['with a line feed', 'x\n.py', 'characters that are not text'],
    ['with DEL', 'x\x7f.py', 'characters that are not text'],
    ['with a control character of the second block', 'x\x85.py', 'characters that are not text'],
    ['with a line separator', 'x\u2028.py', 'characters that are not text'],
    ['with a replacement character', 'x\ufffd.py', 'characters that are not text'],
    ['with a backslash', '..\\..\\x.py', 'has a backslash'],
    ['from the root', '/etc/passwd', 'is an absolute path'],
    ['with a drive', 'C:/windows/x.dll', 'is an absolute path'],
    ['with a drive and no root', 'C:x.dll', 'begins with "C:", which Windows takes for a drive'],
    ['with one letter before a colon', 'a:b', 'begins with "a:", which Windows takes for a drive'],
    ['with a segment of 256 bytes', `a/${'x'.repeat(256)}`, 'longer than 255 bytes'],
    ['with a folder of 256 bytes', `${'x'.repeat(256)}/a`, 'longer than 255 bytes'],
    ['with a segment of 256 bytes in 128 letters', 'ä'.repeat(128), 'longer than 255 bytes'],
    ['with the number of a version', 'main.py;1', 'ends in ";1", which some programs cut off'],
    ['with a bare semicolon at its end', 'main.py;', 'ends in ";", which some programs cut off'],
    ['with a version before its slash', 'a;20/b', 'ends in ";20", which some programs cut off'],
    ['that leads up', '../../x.py', 'leads out of the folder'],
    ['that leads down and up', 'a/../../x.py', 'leads out of the folder'],
    ['with a dot segment', './x.py', 'is not a plain path'],
    ['with an empty segment', 'a//x.py', 'is not a plain path'],
    ['in 65 folders', `${'f/'.repeat(65)}a`, 'is nested in more than 64 folders'],
    ['of a folder of git', '.git/config', 'belongs to git'],
    ['of a folder of git in a folder', 'sub/.GIT/hooks/post-checkout', 'belongs to git'],
    ['of a folder of git, with a sign that some systems ignore', '.gi\uFE0Ft/config', 'belongs to git'],
    ['of an empty folder of git', 'sub/.git/', 'belongs to git'],
    ['of a file that names a folder of git', 'sub/.git', 'belongs to git'],
    ['of a folder of git as Windows shortens it', 'GIT~1/config', 'belongs to git'],
    ['of a folder of Mercurial', 'sub/.hg/hgrc', 'belongs to Mercurial'],
    ['of a folder of Mercurial as Windows shortens it', 'HG~1/hgrc', 'belongs to Mercurial'],
    ['of a folder of Bazaar', '.bzr/branch/branch.conf', 'belongs to Bazaar'],
    ['of a folder of Jujutsu', '.JJ/repo/config.toml', 'belongs to Jujutsu'],
    ['of a folder in 64 folders', 'f/'.repeat(65), 'is nested in more than 64 folders'],
  ])('rejects a name %s', (_, name, reason) => {
    expect(() => checkName(name)).toThrow(reason);
  });

  test.each([
    ...['a.', 'a ', 'a./b', 'a /b', 'a/b.../', '...'],
    ...['ab:c', 'node.py:hidden', 'a<b', 'a>b', 'a"b', 'a|b', 'a?b', 'a*b'],
    ...['CON', 'con', 'PRN.txt', 'aux.tar.gz', 'NUL', 'nul .txt', 'com1', 'COM9.py', 'lpt1', 'LPT9'],
    ...['com\u00b9', 'COM\u00b2.py', 'lpt\u00b3', 'CONIN$', 'conout$.txt', 'a/aux/b', 'a/nul', 'prn/a'],
  ])('rejects a name that Windows cannot write: %j', (name) => {
    expect(() => checkName(name)).toThrow(`the name "${name}" cannot be written on Windows.`);
  });

  test.each([
    ...['\u202e', '\u202a', '\u2066', '\u2069', '\u200e', '\u200f', '\u061c'],
    '\u200b',
    '\u200c',
    '\u200d',
    '\u2060',
    '\ufeff',
    '\u00ad',
    '\u034f',
    '\u180e',
    '\u3164',
    '\u{e0041}',
    ...['\ufff9', '\ufffa', '\ufffb', '\u2800'],
  ])('rejects a name with a bidirectional or invisible character: %j', (character) => {
    expect(() => checkName(`node${character}.py`)).toThrow('has invisible characters.');
  });

  test('accepts no name that leaves its folder on any system', () => {
    const segment = fc.constantFrom('..', '.', '', 'a', 'C:', '\\', '/', '..\\', '\0', 'ü', 'nul', ':');
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 6 }), fc.constantFrom('', '/'), (segments, separator) => {
        const name = segments.join(separator);
        try {
          checkName(name);
        } catch {
          return;
        }
        accepted += 1;
        expect(posix.resolve('/safe', name)).toMatch(/^\/safe\/./);
        expect(win32.resolve('D:\\safe', name)).toMatch(/^D:\\safe\\./);
      }),
      { numRuns: 2000, seed: 1 },
    );
    // Most of these names are rejected, and a check that rejects all of them would prove nothing.
    expect(accepted).toBe(101);
  });
});

const clashOf = (names: string[]) => [...findClashes(names)][0]?.problem.sentence;

describe('findClashes', () => {
  test.each([
    [['a', 'b', 'a'], 'it has two files named "a".'],
    [['a/', 'a/b', 'a/'], 'it has two files named "a/".'],
    [['Node.py', 'node.py'], '"Node.py" and "node.py" are one file'],
    [['caf\u00e9', 'cafe\u0301'], 'how accents are encoded'],
    [['\u212a', 'k'], 'are one file'],
    [['ΑΣ', 'ας', 'x'], 'are one file'],
    [['ας', 'ασ'], 'are one file'],
    [['straße', 'STRASSE'], 'are one file'],
    [['\u1e9e', 'ss'], 'are one file'],
    [['a', 'a/b'], '"a" is both a file and a folder.'],
    [['a/b/c/d', 'a/b'], '"a/b" is both a file and a folder.'],
    [['a', 'a!', 'a/b'], '"a" is both a file and a folder.'],
    [['A', 'a/b'], '"A" is both a file and a folder.'],
    [['a/', 'a'], '"a" is both a file and a folder.'],
    [['a/', 'A/'], 'are one folder'],
    [['Dir/a', 'dir/b'], 'the folders "Dir" and "dir" are one folder on systems that ignore case'],
    [['Dir/', 'dir/b'], 'the folders "Dir" and "dir" are one folder'],
    [['x/Dir/', 'x/dir/b'], 'the folders "x/Dir" and "x/dir" are one folder'],
    [['x/Dir/a', 'x/c', 'x/dir/b/c'], 'the folders "x/Dir" and "x/dir" are one folder'],
    [['caf\u00e9/a', 'cafe\u0301/b'], 'are one folder'],
  ])('rejects names that meet in one file: %j', (names, reason) => {
    expect(clashOf(names)).toContain(reason);
    expect(clashOf(names.toReversed())).toMatch(/are one (?:file|folder)|two files|both a file and a folder/);
  });

  test('accepts names that only begin alike', () => {
    const names = ['a', 'a!', 'a.b', 'ab/', 'ab/c', 'ab/c.d', 'b/a', 'b/', 'B1/a', 'b2/a', 'x/Y', 'z/y'];

    expect(clashOf(names)).toBeUndefined();
  });

  test('names a folder of another spelling once, not for each of its files', () => {
    expect([...findClashes(['Dir/a', 'dir/b', 'dir/c'])].map(({ name }) => name)).toEqual(['dir/b']);
  });

  test('checks names of 1,000 characters in time linear in their folders', async () => {
    const cpuOf = (folders: number) => {
      const path = `${'x'.repeat(Math.floor(900 / folders))}/`.repeat(folders);
      const names = Array.from({ length: 5000 }, (_, index) => `${index}/${path}`.padEnd(1000, 'x'));
      return cpuMsOf(() => clashOf(names));
    };
    const minOf = async (folders: number) =>
      Math.min(await cpuOf(folders), await cpuOf(folders), await cpuOf(folders));
    await cpuOf(62);

    // Eight times the folders; a time that grows with their square is 64 times.
    expect(await minOf(62)).toBeLessThan(24 * (await minOf(8)));
  });
});

const repositoryIn = (names: string[]) => [...findGitFolders(names)][0]?.problem.sentence;

describe('findGitFolders', () => {
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
    expect(repositoryIn(['node.py', ...names])).toContain(sentence);
    expect(repositoryIn(names.toReversed())).toContain(sentence);
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
    expect(repositoryIn(names)).toBeUndefined();
  });

  test('finds every repository, for a publisher who can still leave them out', () => {
    const names = ['', 'a/', 'a/b/'].flatMap((folder) => [`${folder}HEAD`, `${folder}commondir`]);

    expect([...findGitFolders(names)].map(({ folder }) => folder)).toEqual(['.', 'a', 'a/b']);
  });
});
