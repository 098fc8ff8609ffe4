import { join } from 'node:path';
import { fileOf, loadPaidContracts } from '../../infra/operations.ts';
import { buildFloor, buildUsually } from './builds.ts';
import { type Figure, inTurns, ratio } from './figures.ts';
import { type ColdStart, Lambda } from './lambda.ts';
import { readEvent, type Servers } from './servers.ts';

interface Conditions {
  servers: Servers;
  /** The folder for bundles. */
  folder: string;
  rounds: number;
}

interface Case {
  title: string;
  name: string;
  event: () => Promise<unknown>;
  reach?: number;
}

const paid = await loadPaidContracts();

const cases: Case[] = [
  ...paid.map(({ name }) => ({ title: fileOf(name).replaceAll('-', ' '), name: fileOf(name), reach: 2.6 })),
  { title: 'update node', name: 'update-node', reach: 2.6 },
  { title: 'update host node', name: 'update-host-node', reach: 2.6 },
  { title: 'publish', name: 'publish-node-version', reach: 2.7 },
].map((entry) => ({ ...entry, event: () => readEvent(entry.name) }));

for (const [count, reach] of [
  [100, 2.8],
  [1000, 4.6],
] as const) {
  const event = () => bulkEvent(count);
  cases.push({ title: `bulk of ${count}`, name: 'bulk-node-versions', event, reach });
}

cases.push({
  title: 'finalize upload',
  name: 'finalize-upload',
  event: async () => {
    const { uploadArchive } = await import('./filling.ts');
    const event = JSON.stringify(await readEvent('finalize-upload'));
    return JSON.parse(event.replace(/staging[^"]+/, await uploadArchive()));
  },
});

/** From the start of each function's process to its first answer, over the floor and next to the usual build. */
export async function measureColdStarts({ servers, folder, rounds }: Conditions): Promise<Figure[]> {
  const { addNodes } = await import('./filling.ts');
  await addNodes(1000);
  return withLambda(async (lambda) => {
    const floor = await buildFloor(join(folder, 'floor'));
    const runs: Record<string, () => Promise<ColdStart>> = {};
    const run = (file: string, event: () => Promise<unknown>) => async () =>
      requireSuccess(await lambda.start({ file, event: await event(), environment: servers.environment }));
    runs.floor = run(floor, () => readEvent('text-to-video'));
    for (const { title, name, event } of cases) {
      runs[title] = run(bundleOf(name), event);
      runs[`${title}, usual`] = run(await buildUsual(name, folder), event);
    }
    const results = await inTurns(rounds, runs);
    const part = (name: string, field: 'totalMs' | 'initMs' | 'cpuMs') =>
      (results[name] ?? []).map((result) => result[field]);
    const over = (title: string, field: 'totalMs' | 'initMs' | 'cpuMs', goal: { reach?: number }) => {
      const usual = { usual: ratio('', part(`${title}, usual`, field), part('floor', field)).median };
      const label = { totalMs: 'cold', initMs: 'init', cpuMs: 'cold cpu' }[field];
      return ratio(`${label}: ${title}`, part(title, field), part('floor', field), { ...usual, ...goal });
    };
    return cases.flatMap(({ title, reach }) => [
      over(title, 'totalMs', reach === undefined ? {} : { reach }),
      over(title, 'initMs', {}),
      over(title, 'cpuMs', {}),
    ]);
  });
}

/** The bundle of a function as it is deployed. */
function bundleOf(name: string): string {
  return join('dist', name, 'index.js');
}

function buildUsual(name: string, folder: string): Promise<string> {
  return buildUsually(`functions/${name}.ts`, join(folder, 'usual', name));
}

async function bulkEvent(count: number): Promise<unknown> {
  const pairs = Array.from({ length: count }, (_, index) => ({ node_id: `node-${index}`, version: '1.0.0' }));
  return { ...(await readEvent('bulk-node-versions')), body: JSON.stringify({ node_versions: pairs }) };
}

function requireSuccess(start: ColdStart): ColdStart {
  const { statusCode = 200 } = (start.answer ?? {}) as { statusCode?: number };
  if (statusCode < 300) return start;
  throw new Error(`A measured function answered ${JSON.stringify(start.answer)}.`);
}

async function withLambda<Result>(work: (lambda: Lambda) => Promise<Result>): Promise<Result> {
  const lambda = new Lambda();
  try {
    return await work(lambda);
  } finally {
    await lambda.stop();
  }
}
