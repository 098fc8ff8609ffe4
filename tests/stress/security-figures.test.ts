import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { caseCount } from '../../tools/stress/access.ts';
import { actors } from '../../tools/stress/access-actors.ts';
import { accessCases } from '../../tools/stress/access-cases.ts';
import { fuzzRuns } from '../../tools/stress/fuzz.ts';
import { valuesEach } from '../../tools/stress/protected-fields.ts';
import { hostilePacks } from '../../packages/host-nodes/tests/hostile-packs.ts';

const read = async (path: string) => (await readFile(path, 'utf8')).replaceAll(/\s+/g, ' ');
const figure = (count: number) => count.toLocaleString('en-US');
const security = await read('docs/SECURITY.md');

test('docs/SECURITY.md says how much npm test and npm run stress try of each check', () => {
  const all = accessCases().length;
  const sentences = [
    `Each pair of ${Object.keys(actors).length} actors`,
    `a sample of ${caseCount.short} cases, and \`npm run stress\` all ${figure(all)}:`,
    `with about ${valuesEach.short} values in \`npm test\` and ${valuesEach.usual} in \`npm run stress\``,
    `of ${figure(fuzzRuns.short)} in \`npm test\` and ${figure(fuzzRuns.usual)} in \`npm run stress\``,
  ];

  expect(caseCount.usual).toBeGreaterThanOrEqual(all);
  expect(sentences.filter((sentence) => !security.includes(sentence))).toEqual([]);
});

test('documents count the kinds of hostile packs that are tried', async () => {
  const texts = [security, await read('docs/quality.md')];
  const counts = texts.flatMap((text) => [...text.matchAll(/([\d,]+) kinds of hostile packs/g)]);

  expect(counts.length).toBeGreaterThan(0);
  for (const [, count] of counts) expect(count).toBe(figure(hostilePacks.length));
});
