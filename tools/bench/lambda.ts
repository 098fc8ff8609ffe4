import { spawn } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { startHttpServer } from '../processes/http-server.ts';

/** Lambda's own options for Node at 1024 MB. */
const flags = [
  '--expose-gc',
  '--max-http-header-size=81920',
  '--max-semi-space-size=51',
  '--max-old-space-size=921',
];
const runtime = resolve(import.meta.dirname, 'runtime.js');
const patienceMs = 30_000;

/** The process's report about itself, once it has its response. */
interface Report {
  answer: unknown;
  /** The modules of Node that it had loaded. */
  modules: string[];
}

export interface ColdStart extends Report {
  /** From the start of the process until its response has arrived. */
  totalMs: number;
  /** The lines that it printed. */
  lines: string[];
}

interface Start {
  file: string;
  event: unknown;
  environment: NodeJS.ProcessEnv;
}

/** Starts functions like Lambda, each in its own process, and measures the time to the first response. */
export class Lambda {
  readonly #server = startHttpServer(async (request, response) => {
    if (request.url === '/next') return response.end(this.#event);
    this.#answered(JSON.parse(await text(request)));
    response.end();
  });
  #event = '';
  #answered: (report: Report) => void = () => {};

  async start({ file, event, environment }: Start): Promise<ColdStart> {
    this.#event = JSON.stringify(event);
    const { port } = await this.#server;
    const began = performance.now();
    const child = spawn(process.execPath, [...flags, runtime, resolve(file)], {
      cwd: dirname(file),
      env: { ...environment, RUNTIME_PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: patienceMs,
    });
    const [printed, errors] = [text(child.stdout), text(child.stderr)];
    return new Promise((done, fail) => {
      let result: Omit<ColdStart, 'lines'> | undefined;
      this.#answered = (report) => {
        result = { totalMs: performance.now() - began, ...report };
      };
      child.once('exit', async () => {
        if (result) done({ ...result, lines: (await printed).split('\n').slice(0, -1) });
        else fail(new Error(`${file} gave no answer. ${await errors}`));
      });
    });
  }

  async stop(): Promise<void> {
    await (await this.#server).stop();
  }
}
