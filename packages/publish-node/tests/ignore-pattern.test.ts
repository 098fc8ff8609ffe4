import { describe, expect, test } from '@jest/globals';
import { folder } from '@node-registry/testing/folders';
import { fc } from '@node-registry/testing/properties';
import { check } from '@node-registry/testing/property-runs';
import { git, writeFiles } from '@node-registry/testing/shell';
import { IgnoreRules } from '../files/ignore-rules.ts';
import { chooseFiles } from '../files/pack.ts';

describe('an ignore pattern', () => {
  /** Names that patterns of the same few characters meet often. */
  const names = 'a|A|b|ab|aB|a b|a |!a|#a|[a]|a\\b|.a|a-b|*|é|x.log|]'.split('|');
  const folders = ['', 'd/', 'd/c/b/', 'e/d/', 'a.d/', 'a.d/b.d/'];
  const paths = folders.flatMap((folder) => names.map((name) => folder + name)).sort();

  const part = fc.constantFrom(
    ...['a', 'b', 'd', 'e', 'a', 'b', 'd', '.log', 'é', '-', ' ', '!', '#', '\r', '\t', '/', '/', '/', '/'],
    ...['*', '*', '*', '**', '/**/', '**/', '/**', '***', '?', '[ab]', '[!a]', '[^a-c]', '[c-a]', '[a-]'],
    ...'[]] [ ] [[:alpha:]] [[:upper:]] [A] [A-Z] [A-_] A \\A [[:punct:]] [[:none:]] [[:constructor:]] [[:]'.split(
      ' ',
    ),
    ...['[\\]a]', '[+--]', '[d/]'],
    ...['\\', '\\a', '\\*', '\\ ', '\\!', '\\#', '\\[', '\\\\'],
  );
  // After a plain beginning, git takes two stars for any depth, against its documentation.
  const afterBeginning = fc.tuple(
    fc.constantFrom('', '!', '/', '[a]', '*'),
    fc.constantFrom('a', 'd', 'a.', 'e/d', 'd/c', 'd/'),
    fc.constantFrom('**', '***'),
    fc.constantFrom('', '/', '/a', '/b', '/*', '/c/**', '\\/a', '.log', '/[ab]'),
  );
  const line = fc
    .oneof(fc.array(part, { minLength: 1, maxLength: 6 }), afterBeginning)
    .map((parts) => parts.join(''));

  test.each([false, true])(
    'leaves out the files that git does, with core.ignorecase %s',
    async (ignoresCase) => {
      await git(folder, 'init', '--quiet', '--template=');
      await git(folder, 'config', 'core.ignorecase', String(ignoresCase));
      // One start of git compares many ignore files, each in a folder with the same files.
      const packs = Array.from({ length: 10 }, (_, at) => `pack${at}/`);
      const files = packs.flatMap((pack) => paths.map((path) => [pack + path, '']));
      await writeFiles(folder, Object.fromEntries(files));
      let leftOut = 0;
      const matchesGit = async (ignoreFiles: readonly (readonly string[])[]) => {
        const written = ignoreFiles.map((lines, at) => [`${packs[at]}rules.txt`, lines.join('\n')]);
        await writeFiles(folder, Object.fromEntries(written));
        const listed = await git(folder, 'ls-files', '-z', '--others', '--exclude-per-directory=rules.txt');
        const found = listed.split('\0').sort();
        const keptByGit = packs.map((pack) => found.filter((path) => path.startsWith(pack)));
        ignoreFiles.forEach((lines, at) => {
          const rules = new IgnoreRules([], ignoresCase).and(lines, 'x');
          const kept = paths.filter((path) => !rules.match(path));
          leftOut += paths.length - kept.length;
          const byGit = keptByGit[at]?.map((path) => path.slice(path.indexOf('/') + 1));

          expect({ lines, kept }).toEqual({ lines, kept: byGit?.filter((path) => path !== 'rules.txt') });
        });
      };
      const ignoreFile = fc.array(line, { minLength: 1, maxLength: 4 });
      const ignoreFiles = fc.array(ignoreFile, { minLength: packs.length, maxLength: packs.length });
      await check(ignoreFiles, matchesGit, { weight: 4 });

      expect(leftOut).toBeGreaterThan(1_000);
    },
  );

  test.each([
    ['a byte order mark', '\uFEFFa', ['a']],
    ['the end of a line of Windows', 'a\r\nb\r', ['a', 'b']],
  ])('takes no notice of %s', (_, text, expected) => {
    const rules = new IgnoreRules().and([text], 'x');

    expect(['a', 'b', 'c'].filter((path) => rules.match(path))).toEqual(expected);
  });
});

describe('a pattern that can be divided in many ways', () => {
  const depth = 60;
  const deep = 'a/'.repeat(depth);
  const anyDepth = `${'/a/**'.repeat(11)}/b`;
  const stars = `${'*a'.repeat(60)}*b`;

  // With backtracking, each of these takes longer than the age of the universe.
  const files = ['.publishignore', '.comfyignore', '.gitignore'];
  const patterns = [anyDepth, stars, `${'[[:'.repeat(80_000)}]b`];
  test.each(files.flatMap((name) => patterns.map((pattern) => [name, pattern])))(
    'matches at once in %s: %.9s',
    async (name = '', pattern = '') => {
      const paths = [name, `${deep}x`, 'a'.repeat(200)];
      await writeFiles(folder, Object.fromEntries(paths.map((path) => [path, path === name ? pattern : ''])));
      const { files } = await chooseFiles(folder, {});

      expect(files.map(({ path }) => path)).toEqual(paths.toSorted());
    },
  );

  test.each([anyDepth, stars])('matches at once in an includes entry: %s', async (pattern) => {
    await writeFiles(folder, { [`${deep}x`]: '', ['a'.repeat(200)]: '' });

    await expect(chooseFiles(folder, { includes: [pattern] })).rejects.toThrow('names no file');
  });
});
