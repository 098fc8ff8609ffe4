import { Worker } from 'node:worker_threads';
import type { Extraction } from './extract-host-nodes.ts';
import type { Files } from './files.ts';

export interface ExtractionTask {
  files: Files;
  /** What the pack's folder is called. */
  name: string;
  deadline: number;
}

/**
 * The evaluator counts steps, but it cannot count inside a native call, and a fault of its own must not take the
 * function with it. So a pack gets a thread with a heap of its own, which is stopped when its time is up.
 */
const resourceLimits = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };
/** Real packs take less than a second. */
const maxMilliseconds = 8_000;
/** The evaluator looks at the clock itself, and says more when it stops itself. */
const graceMilliseconds = 2_000;

/** Next to this module: a bundle in dist, or the source as it is. */
const workerFile = new URL(
  import.meta.url.endsWith('.ts') ? './extraction-worker.ts' : './extraction-worker.js',
  import.meta.url,
);

/** Extracts a pack's host nodes in a thread of its own. */
export async function extractInWorker(
  files: Files,
  name: string,
  milliseconds: number = maxMilliseconds,
): Promise<Extraction> {
  const { promise, resolve } = Promise.withResolvers<Extraction>();
  const task: ExtractionTask = { files, name, deadline: Date.now() + milliseconds };
  const worker = new Worker(workerFile, {
    workerData: task,
    resourceLimits,
    env: {},
    stdout: true,
    stderr: true,
  });
  const timer = setTimeout(() => resolve(givenUp('it takes too long')), milliseconds + graceMilliseconds);
  worker.on('message', resolve);
  worker.on('error', (error: NodeJS.ErrnoException) =>
    resolve(
      givenUp(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it needs too much memory' : 'reading it failed',
        error,
      ),
    ),
  );
  worker.on('exit', () => resolve(givenUp('reading it ended without a result')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

function givenUp(why: string, error?: Error): Extraction {
  const notes = error === undefined ? [] : [`${error.name}: ${error.message}`.slice(0, 300)];
  return { status: 'failed', reason: `It was given up: ${why}.`, nodes: [], risks: [], notes, steps: 0 };
}
