import { parentPort, workerData } from 'node:worker_threads';
import { extractHostNodes } from './extract-host-nodes.ts';
import type { ExtractionTask } from './extract-in-worker.ts';

/** The thread that extract-in-worker.ts starts: it reads one pack, then ends. */
const { files, name }: ExtractionTask = workerData;
parentPort?.postMessage(extractHostNodes(files, { name }));
