import { randomBytes } from 'node:crypto';
import { expect, jest, test } from '@jest/globals';
import { readTextFiles } from '../../../lib/archives/text-files.ts';
import { inMemory } from '../../support/archive-files.ts';
import { zip } from '@node-registry/testing/zip';

jest.setTimeout(60_000);

/** A million bytes that pack to fifteen thousand. */
const large = Buffer.alloc(1_000_000, ' ');
large.set(Buffer.from(randomBytes(15_000).toString('base64')));

test('reads at most 20 MB of text, by what the files unpack to, in archive order', async () => {
  const names = Array.from({ length: 22 }, (_, index) => `${index}.txt`);
  const entries = [{ name: 'docs/' }, ...names.map((name) => ({ name, data: large }))];
  const files = await readTextFiles(inMemory(zip(entries, { isListedBackwards: true })));

  const read = names.filter((name) => files.get(name) === large.toString());

  expect([...files.keys()]).toEqual(names);
  expect(read).toEqual(names.slice(0, 20));
});
