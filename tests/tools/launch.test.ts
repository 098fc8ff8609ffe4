import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-registry-launch-'));
  await mkdir(join(folder, 'tools'));
  await cp('tools/launch.js', join(folder, 'tools/launch.js'));
  const files = {
    'package.json': '{"type":"module"}',
    'older.js': "Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } });",
    'needs-package.ts': "import 'serverless';",
    'faulty.ts': "import './absent.ts';",
    'prints.ts': 'process.stdout.write(process.argv.slice(2).join());',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function launch(file: string, ...options: string[]) {
  const args = [...options, 'tools/launch.js', file, '--one', 'two'];
  return new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
    const env = { ...process.env, NODE_OPTIONS: '' };
    const child = execFile(process.execPath, args, { cwd: folder, env }, (_, stdout, stderr) =>
      resolve({ status: Number(child.exitCode), stdout, stderr }),
    );
  });
}

describe('tools/launch.js', () => {
  test('hands the arguments on', async () => {
    expect(await launch('prints.ts')).toEqual({ status: 0, stdout: '--one,two', stderr: '' });
  });

  test('says in one sentence that Node is too old', async () => {
    const { status, stderr } = await launch('prints.ts', '--import', './older.js');

    expect([status, stderr.split('\n').length]).toEqual([1, 2]);
    expect(stderr).toMatch(/^This needs Node 24 and runs on 20\.1\.0/);
  });

  test('says in one sentence that nothing is installed', async () => {
    const { status, stderr } = await launch('needs-package.ts');

    expect([status, stderr]).toEqual([1, 'The packages are not installed yet: run npm install first.\n']);
  });

  test('shows any other failure as it is', async () => {
    const { status, stderr } = await launch('faulty.ts');

    expect(status).toBe(1);
    expect(stderr).toContain('absent.ts');
  });
});
