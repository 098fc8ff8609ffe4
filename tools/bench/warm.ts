import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundle, manifestOf } from '../../infra/bundle/build.ts';
import { type Figure, ratio } from './figures.ts';

/** The cost of everything around a handler, relative to the same endpoint written by hand. */
export async function measureWarm(folder: string): Promise<Figure> {
  const entries = { ours: 'tools/bench/endpoint.ts', byHand: 'tools/bench/endpoint-by-hand.ts' };
  const home = join(folder, 'warm');
  await mkdir(home);
  for (const { path, contents } of [manifestOf(home), ...(await bundle(entries, home))])
    await writeFile(path, contents);
  // In a separate process: collecting the garbage of a large heap would count.
  const timing = [join(import.meta.dirname, 'time-warm.ts'), home];
  const { ours, byHand } = JSON.parse((await promisify(execFile)(process.execPath, timing)).stdout);
  return ratio('warm endpoint', ours, byHand, 2.1);
}
