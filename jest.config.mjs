import { spawnSync } from 'node:child_process';
import { basename, delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const flags =
  '--conditions=in-tree --experimental-vm-modules --disable-warning=ExperimentalWarning --trace-warnings';
const { env, argv, execArgv } = process;

// A stack that runs with this offset is the developer's own: the tests start theirs at other ports.
delete env.LOCAL_PORT_OFFSET;

const isCommand = /^jest(?:\.js)?$/.test(basename(argv[1] ?? ''));

/*
 * An editor's test button and `npx jest FILE` start the machine's own Node, without flags. The tests need the Node of
 * the deployed functions, and ES modules, so jest starts once more with both.
 */
if (isCommand && !env.NODE_OPTIONS?.includes('--experimental-vm-modules')) {
  const NODE_OPTIONS = [env.NODE_OPTIONS, flags].filter(Boolean).join(' ');
  const PATH = [pathOf('node_modules/.bin'), env.PATH].join(delimiter);
  const options = { stdio: 'inherit', env: { ...env, NODE_OPTIONS, PATH } };
  const { status } = spawnSync(pathOf('node_modules/.bin/node'), [...execArgv, ...argv.slice(1)], options);
  process.exit(status ?? 1);
}

/** The tests of the service, and of each package that has some. Those also run in the package's own folder. */
export default {
  projects: [
    '<rootDir>/tests/jest.json',
    ...['host-nodes', 'publish-node', 'registry-client', 'site'].map((name) => `<rootDir>/packages/${name}`),
  ],
  reporters: ['default', '<rootDir>/tests/support/closing-line.js'],
  maxWorkers: 3,
  randomize: true,
  // For what hangs: no test depends on how busy the machine is.
  testTimeout: 120_000,
};
