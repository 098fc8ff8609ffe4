import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { folder } from '../../../tests/support/folders.ts';
import { shown } from '../failure.ts';
import { initCommand } from '../init-command.ts';
import { readMetadata, requireProject } from '../project.ts';

const file = () => readFile(join(folder, 'pyproject.toml'), 'utf8');
const init = () => initCommand(folder, { publisher: 'demo', node: 'begun' });

async function initAfter(before: string): Promise<string> {
  await writeFile(join(folder, 'pyproject.toml'), before);
  await init();
  return file();
}

const named = 'name = "mine"\nversion = "1.2.0"\n';

describe('publish-node init', () => {
  test.each([
    ['a table', `[project]\n${named}`],
    ['a table with spaces', `[ project ]\n${named}`],
    ['a quoted table', `["project"]\n${named}`],
    ['dotted keys', 'project.name = "mine"\nproject.version = "1.2.0"\n'],
    ['an inline table', 'project = { name = "mine", version = "1.2.0" }\n'],
    ['a table of Poetry', `[tool.poetry]\n${named}`],
    ['an inline table of Poetry', '[tool]\npoetry = { name = "mine", version = "1.2.0" }\n'],
    [
      'a table next to text that looks like one',
      `[project]\n${named}description = """\n[tool.poetry]\n"""\n`,
    ],
    ['a table after a byte order mark', `\uFEFF[project]\n${named}`],
  ])('adds only what is missing: %s', async (_, before) => {
    const after = await initAfter(before);

    expect(after.startsWith(before)).toBe(true);
    expect(await requireProject(await readMetadata(folder, {}))).toMatchObject({
      publisher: 'demo',
      node: 'mine',
      version: '1.2.0',
    });
  });

  test('ignores text that only looks like tables', async () => {
    await initAfter('[other]\ntext = """\n[project]\n[tool.node-registry]\n"""\n');

    expect(await requireProject(await readMetadata(folder, {}))).toMatchObject({ node: 'begun' });
  });
});

describe('publish-node init without a change', () => {
  test.each([
    ['a table', '[tool.node-registry]\n'],
    ['a table with spaces', '[ tool . node-registry ]\n'],
    ['an inline table', '[tool]\nnode-registry = { publisher = "me" }\n'],
    ['dotted keys', '[tool]\nnode-registry.publisher = "me"\n'],
  ])('rejects a pyproject.toml that has the registry’s own table as %s', async (_, before) => {
    await expect(initAfter(before)).rejects.toThrow('has a [tool.node-registry] table already');

    expect(await file()).toBe(before);
  });

  test('shows the text to write if no table can be added', async () => {
    const before = 'tool = { other = 1 }\n';
    const refused = await initAfter(before).catch(shown);

    expect(refused).toContainEqual(expect.stringContaining('Write the tables there yourself.'));
    expect(refused).toContain('  line 9: publisher = "demo"');
    expect(await file()).toBe(before);
  });
});
