// npm run template
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { buildFunctions } from '../../infra/bundle/build.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { flagsOf, packageWith, templateIn } from '../../infra/plugins/packages.ts';
import type { Part } from '../../infra/plugins/references.ts';

export const reviewedFile = 'tests/infra/template.json';

/** Packaged templates as text to review: the default one, and what each other set of parameters changes in it. */
export function reviewed({ default: usual, ...others }: Record<keyof typeof parameterSets, string>): string {
  const first = lasting(usual);
  const rest = Object.entries(others).map(([set, template]) => [set, changed(first, lasting(template))]);
  return `${written({ default: first, ...Object.fromEntries(rest) }, '')}\n`;
}

/** Without what each build, commit and hour changes. */
function lasting(template: string): Part {
  const release = JSON.stringify(JSON.parse(template).Outputs.Release.Value);
  return JSON.parse(template.replaceAll(/\/\d{13}-[\w:.-]+\//g, '/').replaceAll(release, '""'));
}

const isObject = (part: Part) => typeof part === 'object' && part !== null && !Array.isArray(part);

/** The parts of another template that differ; null for a missing one. */
function changed(usual: Part, other: Part): Part {
  if (!isObject(usual) || !isObject(other)) return other ?? null;
  const names = Object.keys({ ...usual, ...other }).filter(
    (name) => !isDeepStrictEqual(usual[name], other[name]),
  );
  return Object.fromEntries(names.map((name) => [name, changed(usual[name], other[name])]));
}

/** Sorted. A part that fits is one line. */
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
    summary: `Writes ${reviewedFile}: what stages with all kinds of parameters deploy`,
  }).action(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'node-registry-template-'));
    const packaged = async (set: keyof typeof parameterSets) => {
      await packageWith('.', folder, flagsOf(parameterSets[set]));
      return readFile(templateIn(folder), 'utf8');
    };
    try {
      await buildFunctions();
      const templates = {
        default: await packaged('default'),
        direct: await packaged('direct'),
        minimal: await packaged('minimal'),
        full: await packaged('full'),
      };
      await writeFile(reviewedFile, reviewed(templates));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
  await runProgram(command);
}
