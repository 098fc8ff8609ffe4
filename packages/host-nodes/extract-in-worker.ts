import { Worker } from 'node:worker_threads';
import type { Extraction } from './extract-host-nodes.ts';
import type { Files } from './files.ts';

export interface ExtractionTask {
  files: Files;
  /** The name of the pack's folder. */
  name: string;
}

/** An extraction that ran out of time or memory. The pack may be fine: another try may work. */
export interface Interruption {
  status: 'interrupted';
  reason: string;
}

/**
 * The evaluator counts steps, but it can't count inside a native call, and its own faults must not crash the
 * function. So a pack gets a thread with a heap of its own, which is stopped when its time is up.
 */
const resourceLimits = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };
/** Steps limit a pack, and real ones take less than a second. This is for an overloaded machine. */
const maxMilliseconds = 30_000;

/** Next to this module: a bundle in dist, or the source itself. */
const workerFile = new URL(
  import.meta.url.endsWith('.ts') ? './extraction-worker.ts' : './extraction-worker.js',
  import.meta.url,
);

export async function extractInWorker(
  files: Files,
  name: string,
  milliseconds: number = maxMilliseconds,
): Promise<Extraction | Interruption> {
  const task: ExtractionTask = { files, name };
  const worker = new Worker(workerFile, {
    workerData: task,
    resourceLimits,
    env: {},
    stdout: true,
    stderr: true,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve) => {
      timer = setTimeout(() => resolve(interrupted('Reading it takes too long.')), milliseconds);
      worker.on('message', resolve);
      worker.on('error', (error: NodeJS.ErrnoException) =>
        resolve(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? interrupted('Reading it needs too much memory.')
            : readingFailed(error),
        ),
      );
      worker.on('exit', () => resolve(interrupted('Reading it ended without a result.')));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

function interrupted(reason: string): Interruption {
  return { status: 'interrupted', reason };
}

/** A fault of the evaluator, which a retry would meet again. */
function readingFailed({ name, message }: Error): Extraction {
  const reason = 'It was given up: reading it failed.';
  const notes = [`${name}: ${message}`.slice(0, 300)];
  return {
    status: 'failed',
    reason,
    nodes: [],
    risks: [],
    notes,
    steps: 0,
  };
}
