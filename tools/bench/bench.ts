import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCommand, positiveNumber, runProgram } from '@node-registry/command-line/command';
import { buildFunctions } from '../../infra/bundle/build.ts';
import { measureColdStarts } from './cold.ts';
import { render } from './figures.ts';
import { measureSizes } from './sizes.ts';
import { measureThroughput } from './throughput.ts';
import { measureWarm } from './warm.ts';
import { startServers } from './servers.ts';

const command = createCommand({
  name: 'npm run bench --',
  summary: 'Measures how fast the functions start and answer, on this machine and without a network',
  notes:
    'Every time is a ratio to something that was measured in turns with it, so that runs on different machines can be compared.',
  examples: ['--minutes 10'],
})
  .option('--minutes <N>', 'how long to send requests to the local stack', positiveNumber, 0.25)
  .action(run);

await runProgram(command);

async function run({ minutes }: { minutes: number }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-bench-'));
  const servers = await startServers();
  try {
    await buildFunctions();
    const figures = [
      ...(await measureSizes()),
      ...(await measureColdStarts(servers.environment, folder, 21)),
      await measureWarm(folder),
      ...(await measureThroughput(minutes * 60)),
    ];
    process.stdout.write(render(figures));
  } finally {
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
