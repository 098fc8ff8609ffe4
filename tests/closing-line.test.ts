import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { folder } from '@node-registry/testing/folders';
import { runProgram } from '@node-registry/testing/shell';

const suites = {
  passes: "test('passes', () => {}); test('passes too', () => {});",
  fails: "test('fails', () => { throw new Error('on purpose'); });",
  skips: "test.skip('opens a page (skipped: there is no Chromium)', () => {});",
  doesNotLoad: "throw new Error('on purpose');",
  losesItsWorker: "test('passes', () => {}); test('ends its process', () => process.abort());",
};

describe('the closing line of the gate', () => {
  test('counts a suite that does not load and one whose worker died as failed tests, and says what was skipped', async () => {
    const reporters = [resolve('tests/support/closing-line.js')];
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ jest: { reporters, testEnvironment: 'node' } }),
    );
    for (const [name, code] of Object.entries(suites)) await writeFile(join(folder, `${name}.test.js`), code);
    const jest = resolve('node_modules/jest/bin/jest.js');
    const { code, stdout } = await runProgram(process.execPath, [jest, '--maxWorkers=2'], { cwd: folder });

    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^skipped: 1 tests\n1 of them need Chromium: apt-get .*\norder: .* --seed=-?\d+\ntests: 2 passed, 3 failed$/m,
    );
  });
});
