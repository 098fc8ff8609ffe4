// npm run record-release
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFunctions } from '../../infra/bundle/build.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { flagsOf, packageWith, templateIn } from '../../infra/plugins/packages.ts';
import { createCommand, runCommand } from 'command-line/command';
import { release } from '../../infra/release.ts';
import { Actor } from './actor.ts';
import { journeys, remember, type State } from './journeys.ts';
import {
  addressesOf,
  bundlesOfTree,
  type Recording,
  readStores,
  recordingFile,
  startRelease,
  writeBundles,
  writeRecording,
} from './recording.ts';
import { startStage } from './stage.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

async function recordRelease(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-recording-'));
  try {
    await buildFunctions();
    const bundles = await bundlesOfTree();
    const templates = { direct: await templateOf(folder, 'direct'), full: await templateOf(folder, 'full') };
    const records = await recordJourneys(await writeBundles(join(folder, 'bundles'), bundles));
    const bytes = await writeRecording({ release: release.name, bundles, templates, ...records });
    const { table, objects, journeys: states } = records;
    say(`${recordingFile(release.name)}: ${(bytes / 1e6).toFixed(2)} MB`);
    say(`${table.length} records, ${objects.length} files, ${states.length} states of journeys`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function templateOf(folder: string, set: 'direct' | 'full'): Promise<Recording['templates']['full']> {
  await packageWith('.', join(folder, set), flagsOf(parameterSets[set]));
  return JSON.parse(await readFile(templateIn(join(folder, set)), 'utf8'));
}

type Records = Pick<Recording, 'recordedAt' | 'key' | 'addresses' | 'table' | 'objects' | 'journeys'>;

/**
 * Each journey stops once after each of its steps but the last. The longest come first: their sweeps would do the work that shorter ones
 * leave waiting.
 */
async function recordJourneys(folder: string): Promise<Records> {
  const stage = await startStage();
  const running = startRelease(release.name, folder, stage.environment, 0);
  const actor = new Actor(stage, running);
  const states: Recording['journeys'] = [];
  try {
    const cuts = Object.entries(journeys).flatMap(([name, all]) =>
      all.slice(1).map((_, place) => ({ name, steps: place + 1, work: all.slice(0, place + 1) })),
    );
    for (const { name, steps, work } of cuts.sort((a, b) => b.steps - a.steps)) {
      const state: State = {};
      for (const { run } of work) await run(actor, state);
      remember(actor, state);
      states.push({ name, steps, state });
    }
    const recordedAt = new Date().toISOString();
    const { key } = stage;
    return { recordedAt, key, addresses: addressesOf(stage), journeys: states, ...(await readStores(stage)) };
  } finally {
    await running.stop();
    await stage.stop();
  }
}

const command = createCommand({
  name: 'npm run record-release --',
  summary:
    'Records this release for tests/upgrade: its bundles, its templates, and a table and bucket that it wrote',
}).action(recordRelease);

process.exitCode = await runCommand(command, process.argv.slice(2));
