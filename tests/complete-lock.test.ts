import { describe, expect, test } from '@jest/globals';
import { completeLock, type LockFile, missingPackages } from '../tools/install/complete-lock.ts';

const platforms = {
  '@tool/cli-linux-x64': '1.2.3',
  '@tool/cli-linux-arm64-musl': '1.2.3',
  '@tool/cli-win32-ia32-msvc': '1.2.3',
};

function lockWith(packages: LockFile['packages']): LockFile {
  return {
    packages: { '': { engines: { node: '>=20' } }, 'node_modules/node': { version: '24.21.0' }, ...packages },
  };
}

describe('complete-lock', () => {
  test('adds an entry with its platform for every optional dependency that the lock lacks', () => {
    const lock = lockWith({
      'node_modules/tool': { version: '1.2.3', dev: true, optionalDependencies: platforms },
      'node_modules/@tool/cli-linux-x64': {
        version: '1.2.3',
        integrity: 'sha512-x',
        dev: true,
        optional: true,
      },
    });

    const completed = completeLock(lock);

    expect(missingPackages(lock).map(({ name }) => name)).toEqual(Object.keys(platforms).slice(1));
    expect(missingPackages(completed)).toEqual([]);
    expect(completed.packages).toEqual({
      ...lock.packages,
      'node_modules/@tool/cli-linux-arm64-musl': {
        version: '1.2.3',
        cpu: ['arm64'],
        dev: true,
        libc: ['musl'],
        optional: true,
        os: ['linux'],
      },
      'node_modules/@tool/cli-win32-ia32-msvc': {
        version: '1.2.3',
        cpu: ['ia32'],
        dev: true,
        optional: true,
        os: ['win32'],
      },
    });
    expect(completeLock(completed)).toEqual(completed);
  });

  test('finds an optional dependency in every folder where Node looks', () => {
    const tool = { version: '1.0.0', optionalDependencies: { 'cli-linux-x64': '1.0.0' } };
    const cli = { version: '1.0.0' };
    const parent = 'node_modules/a/node_modules/tool';

    const found = ['node_modules/', 'node_modules/a/node_modules/', `${parent}/node_modules/`].map((folder) =>
      missingPackages(lockWith({ [parent]: tool, [`${folder}cli-linux-x64`]: cli })),
    );
    const ofTheRoot = missingPackages({
      packages: { '': { optionalDependencies: { a: '1.0.0' } }, 'node_modules/a': cli },
    });
    const ofAWorkspace = missingPackages(lockWith({ 'tools/tool': tool, 'node_modules/cli-linux-x64': cli }));
    const elsewhere = missingPackages(
      lockWith({ [parent]: tool, 'node_modules/b/node_modules/cli-linux-x64': cli }),
    );

    expect([...found, ofTheRoot, ofAWorkspace].flat()).toEqual([]);
    expect(elsewhere).toHaveLength(1);
  });

  test('rejects a name that states no platform', () => {
    const lock = lockWith({ 'node_modules/tool': { optionalDependencies: { fsevents: '2.0.0' } } });

    expect(() => completeLock(lock)).toThrow('no entry for fsevents');
  });

  test('removes a need that the installed Node meets and an allowed Node may not', () => {
    const { packages } = completeLock(
      lockWith({
        'node_modules/old': { engines: { node: '>=18' } },
        'node_modules/new': { engines: { node: '>=24', npm: '>=10' } },
        'node_modules/even': { engines: { node: '^20.0.0 || ^22.0.0 || >=24.0.0' } },
      }),
    );

    expect(packages['node_modules/old']).toEqual({ engines: { node: '>=18' } });
    expect(packages['node_modules/new']).toEqual({ engines: { npm: '>=10' } });
    expect(packages['node_modules/even']).toEqual({});
  });

  test('rejects a package that the installed Node does not run', () => {
    const lock = lockWith({ 'node_modules/next': { engines: { node: '>=26' } } });

    expect(() => completeLock(lock)).toThrow('node_modules/next needs Node >=26, but 24.21.0 is installed');
  });
});
