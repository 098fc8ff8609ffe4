import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { directory } from '@node-registry/testing/folders';
import { type Changes, type Handler, invoke, type Result } from '../support/invoke.ts';
import { asFunction } from '../support/roles.ts';
import { bearer } from '../support/tokens.ts';

const run = promisify(execFile);

/** Where the sources and the built functions of a release are. */
export interface Release {
  root: string;
  dist: string;
}

/** A release as it serves a stage. */
export interface Side {
  /** Runs a function, a command line (`administration`), or a look into the index with the client that callers have. */
  run: (name: string, input: unknown) => Promise<unknown>;
  /** Sends a request: the sample event with other contents. */
  call: (
    name: string,
    changes: Changes & { user?: string | undefined; routeKey?: string },
  ) => Promise<Result>;
  admin: <Output>(line: string) => Promise<Output>;
}

/** `suffix` names the rights of its functions, if they aren't those of its own templates. */
export function sideOf({ root, dist }: Release, suffix = ''): Side {
  const load = (file: string) => import(pathToFileURL(file).href);
  const side: Side = {
    run: (name, input) =>
      asFunction(`${name}${suffix}`, async () => {
        if (name === 'administration')
          return (await load(join(root, 'tools/admin/program.ts'))).runCommandLine(input);
        if (name === 'client') {
          const { createPublicIndex } = await load(join(root, 'packages/registry-client/client.ts'));
          return createPublicIndex({ downloadsUrl: process.env.DOWNLOAD_BASE_URL }).node(input);
        }
        const { handler } = await load(join(dist, name, 'index.js'));
        return handler(input, { awsRequestId: 'an-invocation', getRemainingTimeInMillis: () => 29_000 });
      }),
    call(name, { user, routeKey, headers, ...changes }) {
      const handler = (event: object) => side.run(name, routeKey ? { ...event, routeKey } : event);
      const authorization = user === undefined ? undefined : bearer(user);
      return invoke(handler as Handler, name, { ...changes, headers: { authorization, ...headers } });
    },
    async admin(line) {
      const result = await side.run('administration', [...line.split(' '), '--json']);
      const { status, stdout, stderr } = result as { status: number; stdout: string; stderr: string };
      if (status !== 0) throw new Error(`${line}: ${stderr}`);
      return JSON.parse(stdout);
    },
  };
  return side;
}

/** A release, built with the packages that are installed here, and the rights of its functions. */
export async function checkOut(name: string): Promise<Release & { rights: Record<string, unknown> }> {
  const root = join(directory, name);
  const archive = `${root}.tar`;
  await mkdir(root);
  // Its digests came in the next commit. A clone may have no tags.
  const digests = ['--diff-filter=A', '--', `docs/releases/${name}.sha256`];
  const { stdout: after } = await run('git', ['log', '--format=%H', ...digests]);
  await run('git', ['archive', `--output=${archive}`, `${after.trim()}^`]).catch((cause) => {
    throw new Error(`This release upgrades ${name}, which is not here: git fetch --unshallow`, { cause });
  });
  await run('tar', ['-x', '-f', archive, '-C', root]);
  await linkModules(root);
  const options = { cwd: root, env: { ...process.env, NODE_OPTIONS: '' }, maxBuffer: 64 * 1024 * 1024 };
  const node = (...args: string[]) => run(process.execPath, ['--conditions=in-tree', ...args], options);
  const script = `const { readStatements } = await import('./tests/support/start-servers.ts');
    process.stdout.write(await readStatements());`;
  const [{ stdout }] = await Promise.all([
    node('--input-type=module', '--eval', script),
    node('infra/bundle/build.ts'),
    // The client's types, and its routes, are generated.
    node('packages/registry-client/generate-types.ts'),
  ]);
  return { root, dist: join(root, 'dist'), rights: JSON.parse(stdout) };
}

/** Installed packages, and the release's own workspaces in the place of ours. */
async function linkModules(root: string): Promise<void> {
  const scope = '@node-registry';
  await mkdir(join(root, 'node_modules', scope), { recursive: true });
  const workspaces = await readdir(join(root, 'packages'));
  const linked = async (to: string, from: string) =>
    symlink(resolve(from), join(root, to)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  const installed = (await readdir('node_modules')).filter((name) => name !== scope);
  await Promise.all([
    ...installed.map((name) => linked(join('node_modules', name), join('node_modules', name))),
    ...workspaces.map((name) => linked(join('node_modules', scope, name), join(root, 'packages', name))),
    ...workspaces.map((name) =>
      linked(join('packages', name, 'node_modules'), join('packages', name, 'node_modules')),
    ),
  ]);
}
