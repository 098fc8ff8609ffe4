import { randomUUID } from 'node:crypto';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { dynamodb, tableName } from '../../lib/store/dynamodb.ts';
import { releaseKey } from '../../lib/store/keys.ts';
import { deploymentProblem, type Release, release, tableState, writeRelease } from '../../infra/release.ts';
import { upgradeTable } from '../../tools/admin/upgrade.ts';
import { type Cut, cutProblems } from '../../tools/release/release.ts';
import { admin, adminJson } from '../support/admin.ts';
import { createTable } from '../support/stores.ts';
import { emptyTable, readTable } from '../support/table-image.ts';

const table = { client: dynamodb, name: tableName() };
const at = '2026-11-22T00:00:00.000Z';
const [major = 0, minor = 0] = release.name.split('.').map(Number);
const named = (steps: number) => `${major}.${minor + steps}.0`;
const next: Release = { name: named(1), before: release.name };
const escaped = release.name.replaceAll('.', '\\.');

/** The states of a table, each with what would be written into it. */
const tables = {
  empty: async () => {},
  absent: async () => {},
  'this release': () => writeRelease(table, { ...releaseKey, release: release.name, at }),
  'the next release': () =>
    writeRelease(table, { ...releaseKey, release: next.name, before: release.name, at }),
  'the release after it': () =>
    writeRelease(table, { ...releaseKey, release: named(2), before: next.name, at }),
  'the major before': () =>
    writeRelease(table, { ...releaseKey, release: `${major - 1}.1.0`, before: `${major - 1}.0.0`, at }),
  'the major after': () =>
    writeRelease(table, { ...releaseKey, release: `${major + 1}.0.0`, before: `${major}.9.0`, at }),
};

beforeEach(emptyTable);

const first = new RegExp(
  `^The table \\S+ was written by release ${escaped}\\. Before \\S+ is deployed, run: npm run admin -- upgrade --of-it$`,
);
const other = (name: string) =>
  new RegExp(
    `^The table \\S+ was written by release ${name}, and \\S+ can only be deployed over a table of `,
  );

test.each<[keyof typeof tables, RegExp | undefined, RegExp | undefined]>([
  ['absent', undefined, undefined],
  ['empty', undefined, undefined],
  ['this release', undefined, first],
  ['the next release', undefined, undefined],
  ['the release after it', other(named(2)), undefined],
  ['the major before', other(`${major - 1}.1.0`), other(`${major - 1}.1.0`)],
  ['the major after', other(`${major + 1}.0.0`), other(`${major + 1}.0.0`)],
])('a deployment accepts or rejects by name a table with %s', async (state, ofThis, ofNext) => {
  await tables[state]();
  const found = await tableState(state === 'absent' ? { ...table, name: 'absent' } : table);
  const problems = [release, next].map((each) => deploymentProblem(table, found, each, ' --of-it'));

  expect(problems).toEqual([ofThis, ofNext].map((each) => each && expect.stringMatching(each)));
});

describe('npm run admin -- upgrade', () => {
  test('names this release in an empty table, once', async () => {
    expect((await admin('upgrade', '--dry-run')).stdout).toBe(
      `The table would go from empty to release ${release.name}. Nothing was changed.\n`,
    );
    expect((await readTable()).size).toBe(0);
    expect((await admin('upgrade')).stdout).toBe(`The table is now at release ${release.name}.\n`);
    const image = await readTable();
    expect(await adminJson('upgrade')).toEqual({ from: release.name, to: release.name });
    expect(await readTable()).toEqual(image);
  });

  test.each<keyof typeof tables>(['the release after it', 'the major before'])(
    'rejects a table with %s, and changes nothing',
    async (state) => {
      await tables[state]();
      const before = await readTable();
      const { status, stderr } = await admin('upgrade');

      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/^The table /) });
      expect(await readTable()).toEqual(before);
    },
  );

  test('leaves a table of the next release as it is, so that this one can be deployed again', async () => {
    await tables['the next release']();

    expect(await adminJson('upgrade')).toEqual({ from: next.name, to: next.name });
    expect(await tableState(table)).toMatchObject({ release: next.name, before: release.name });
  });

  test('names the next release over this one, unless it is a dry run', async () => {
    await tables['this release']();

    await upgradeTable(table, { release: next, dryRun: true });
    expect(await tableState(table)).toMatchObject({ release: release.name });
    expect(await upgradeTable(table, { release: next })).toEqual({ from: release.name, to: next.name });
    expect(await tableState(table)).toMatchObject({ release: next.name, before: release.name });
  });

  test('rejects a table that is not there', async () => {
    const name = `gone-${randomUUID()}`;
    await createTable(name);
    await dynamodb.send(new DeleteTableCommand({ TableName: name }));

    await expect(upgradeTable({ client: dynamodb, name })).rejects.toThrow(`There is no table ${name}.`);
  });
});

describe('npm run release', () => {
  const cut: Cut = {
    current: '3.0.0',
    next: '3.1.0',
    unclean: '',
    tree: 'abc',
    passed: 'abc',
    changeLog: '# Change log\n\n## 3.0.0\n',
  };

  test.each<[Partial<Cut>, string[]]>([
    [{}, []],
    [{ next: '3.0.1' }, []],
    [{ next: '4.0.0' }, []],
    [
      { current: '4.0.0-next', next: '4.1.0', changeLog: '## 4.0.0-next' },
      [
        'package.json names 4.0.0-next, which is not a release: npm version MAJOR.MINOR.PATCH --no-git-tag-version --workspaces=false && npm run openapi',
      ],
    ],
    [{ next: '3.2.0' }, ['The next version must be 3.0.1 or 3.1.0 or 4.0.0.']],
    [{ unclean: ' M README.md' }, ['The tree has changes that are not committed:\n M README.md']],
    [{ passed: '' }, ['The gate has not passed on this commit: run .ci/run first.']],
    [
      { changeLog: '## 3.0.0 (unreleased)' },
      ['docs/CHANGELOG.md has no heading "## 3.0.0". Remove "(unreleased)" from it.'],
    ],
  ])('accepts a cut, or rejects it with a sentence: %j', (change, problems) => {
    expect(cutProblems({ ...cut, ...change })).toEqual(problems);
  });
});
