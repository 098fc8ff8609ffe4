import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { directory, folder } from '@node-registry/testing/folders';
import { fc } from '@node-registry/testing/properties';
import { check } from '@node-registry/testing/property-runs';
import { publishNode } from '@node-registry/testing/publish-node';
import { emptyFiles, git, writeFiles } from '@node-registry/testing/shell';

const isRoot = process.getuid?.() === 0;
/** Root may read everything. */
function become(uid: number): void {
  if (isRoot) process.seteuid?.(uid);
}

beforeEach(() => Promise.all([directory, folder].map((path) => chmod(path, 0o755))));

afterEach(() => become(0));

/** The archive itself is not written. */
const pack = (...named: string[]) =>
  publishNode(['pack', folder, '--output', '/dev/null', '--node', 'x', '--version', '1.0.0', ...named]);

test.each([
  ['private.txt', 0],
  ['closed/', 0o744],
  ['hidden/', 0],
])('a file that may not be read is named: %s', async (path, mode) => {
  await git(folder, 'init', '--quiet');
  await writeFiles(folder, emptyFiles('node.py private.txt closed/a.py hidden/b.py'));
  await git(folder, 'add', '--all');
  await chmod(join(folder, path), mode);
  become(65534);
  const { code, stderr } = await pack();
  become(0);
  await chmod(join(folder, path), 0o755);

  expect([code, stderr]).toEqual([2, expect.stringMatching(/^\S+ cannot be read: EACCES\.$/m)]);
  expect(stderr).toContain(path);
  // With all else that is wrong.
  expect(stderr).toContain('Name the publisher');
});

const files = {
  'pyproject.toml': '[project]\nname = "x"\n',
  '.gitignore': '*.log\n',
  '.gitattributes': '* text\n',
  'sub/deep/a.py': 'x',
  'sub/.gitignore': '*.tmp\n',
  'sub/new.py': '',
};
const inGit = ['.git', '.git/index', '.git/info', '.git/info/exclude'];
const changes: Record<string, (path: string) => void> = {
  vanishes: () => {},
  'becomes a folder': mkdirSync,
  'becomes a link to itself': (path) => symlinkSync(path, path),
};

test('a file that changes while it is read ends the command with a sentence', async () => {
  const original = join(directory, 'original');
  await writeFiles(original, files);
  await git(original, 'init', '--quiet', '--template=');
  await git(original, 'add', '.gitignore', 'sub/deep');
  await writeFiles(original, { '.git/info/exclude': '' });
  const values = fc.record({
    place: fc.constantFrom(...Object.keys(files), 'sub', 'sub/deep', ...inGit),
    change: fc.constantFrom(...Object.keys(changes)),
    moment: fc.nat(40),
  });
  const publish = async ({ place, change, moment }: { place: string; change: string; moment: number }) => {
    rmSync(folder, { recursive: true });
    cpSync(original, folder, { recursive: true });
    const running = pack('--publisher', 'demo');
    // It is awaited below.
    running.catch(() => {});
    for (let at = 0; at < moment; at += 1) await tick();
    rmSync(join(folder, place), { recursive: true });
    changes[change]?.(join(folder, place));

    expect(await running).toMatchObject({
      code: 2,
      stderr: expect.not.stringMatching(/^ +at |cannot be read: EN/m),
    });
  };
  await check(values, publish, { weight: 10 });
});
