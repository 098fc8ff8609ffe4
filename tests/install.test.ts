import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { folder } from '@node-registry/testing/folders';
import { runProgram } from '@node-registry/testing/shell';

const { scripts, engines }: { scripts: Record<string, string>; engines: { node: string } } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);

describe('an npm script', () => {
  test.each(['start', 'test'])(
    'npm run %s says in one sentence that nothing is installed yet',
    async (name) => {
      for (const path of ['package.json', 'tools/install/check.cjs']) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        cpSync(path, join(folder, path));
      }
      const result = await runProgram('npm', ['run', '--silent', name], { cwd: folder });

      expect(result).toEqual({
        code: 1,
        stdout: '',
        stderr: 'The packages are not installed yet: run npm ci, then try again.\n',
      });
    },
  );

  test('checks the installation whenever it starts a tool', () => {
    const starting = Object.values(scripts).filter((script) => /\bnode .*\.ts\b/.test(script));

    expect(starting.length).toBeGreaterThan(10);
    for (const script of starting)
      expect(script).toMatch(/^node -r \.\/tools\/install\/check\.cjs (?:--\S+ )*\S+\.ts\b/);
  });

  const tools = Object.entries(scripts).flatMap(([name, script]) => {
    const args = /^node (-r (?:\S+ )+?\S+\.ts)/.exec(script)?.[1];
    return args === undefined ? [] : [[name, args.split(' ')] as const];
  });

  test.each(tools)('npm run %s explains itself instead of running, for --help', async (name, args) => {
    const { code, stdout, stderr } = await runProgram(process.execPath, [...args, '--help']);

    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^Usage: (?:npm (?:run )?)?${name} `));
  });
});

describe('on an older Node', () => {
  /** Simulates another version, because the machine has only one. */
  const asNode = (version: string, start = "require('./tools/install/check.cjs')") => {
    const versions = JSON.stringify({ ...process.versions, node: version });
    const script = `Object.defineProperty(process, 'versions', { value: ${versions} }); ${start}`;
    return runProgram(process.execPath, ['-e', script]);
  };

  test.each(['18.19.0', '20.20.2', '22.22.2'])(
    'npm start on Node %s says in one sentence what to do',
    async (version) => {
      const { code, stderr } = await asNode(version);

      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`^This needs Node 24, and this is Node ${version}\\. [^\\n]+\\n$`));
    },
  );

  test('the administration says the same when it is started without npm', async () => {
    const { stderr } = await asNode('20.20.2', "import('./tools/admin/admin.js')");

    expect(stderr).toMatch(/^This needs Node 24, and this is Node 20\.20\.2\. [^\n]+\n$/);
  });

  test.each(['24.0.0', '26.1.0'])('Node %s starts', async (version) => {
    expect(await asNode(version)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('lets an older Node install the packages, which bring the Node of the scripts', () => {
    expect(engines.node).toBe('>=20');
    expect(existsSync('node_modules/.bin/node')).toBe(true);
  });
});

test('runs a test file by jest alone, as an editor does: it starts again with the flags of the tests', async () => {
  const file = 'packages/site/tests/search-pieces.test.ts';
  const { code, stderr } = await runProgram('node_modules/.bin/jest', [file, '--reporters=default'], {
    env: { NODE_OPTIONS: undefined, JEST_WORKER_ID: undefined },
  });

  expect([code, stderr]).toEqual([0, expect.stringContaining(`PASS ${file}`)]);
});
