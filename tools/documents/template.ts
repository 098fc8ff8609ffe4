// npm run template
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { buildFunctions } from '../../infra/bundle/build.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { flagsOf, packageWith, templateIn } from '../../infra/plugins/packages.ts';
import type { Part } from '../../infra/plugins/references.ts';

export const reviewedFile = 'tests/infra/template.json';

/** A packaged template as text to review: sorted, and without what each build, commit and hour changes. */
export function reviewed(template: string): string {
  const release = JSON.stringify(JSON.parse(template).Outputs.Release.Value);
  const lasting = template.replaceAll(/\/\d{13}-[\w:.-]+\//g, '/').replaceAll(release, '""');
  return `${written(JSON.parse(lasting), '')}\n`;
}

/** A part that fits is one line. */
function written(part: Part, indent: string): string {
  if (typeof part !== 'object' || part === null) return JSON.stringify(part);
  const inner = `${indent}  `;
  const parts = Array.isArray(part)
    ? part.map((each) => written(each, inner))
    : Object.entries(part)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => `${JSON.stringify(name)}: ${written(value, inner)}`);
  const [open, close] = Array.isArray(part) ? ['[', ']'] : ['{', '}'];
  const line = `${open} ${parts.join(', ')} ${close}`;
  if (indent.length + line.length <= 100 && !line.includes('\n')) return line;
  return `${open}\n${parts.map((each) => inner + each).join(',\n')}\n${indent}${close}`;
}

if (import.meta.main) {
  const command = createCommand({
    name: 'npm run template --',
    summary: `Writes ${reviewedFile}: what a stage with the default parameters deploys`,
  }).action(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'node-registry-template-'));
    try {
      await buildFunctions();
      await packageWith('.', folder, flagsOf(parameterSets.default));
      await writeFile(reviewedFile, reviewed(await readFile(templateIn(folder), 'utf8')));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
  await runProgram(command);
}
