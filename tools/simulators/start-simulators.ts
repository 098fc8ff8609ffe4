import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { localOnly } from '../local/local-only.ts';
import { startHttpServer } from '../processes/http-server.ts';
import { answerControl } from './control.ts';
import { Simulation } from './simulation.ts';

interface Settings {
  port?: number;
  keys?: Record<'image' | 'video', string>;
  /** How long a task stays in each of its states. */
  tickMs?: number;
}

export interface Simulators {
  url: string;
  simulation: Simulation;
  stop: () => Promise<void>;
}

/** The keys that serverless.yml gives to the local functions. */
export const localKeys = { image: 'local-image-key', video: 'local-video-key' };

/** Starts both providers on one port: `/image`, `/video`, and `/control` to watch them and make them misbehave. */
export async function startSimulators({
  port = 0,
  keys = localKeys,
  tickMs = 2000,
}: Settings = {}): Promise<Simulators> {
  const simulation = new Simulation({ keys, tickMs });
  const serve = localOnly(async (request, response) => {
    const body = await text(request);
    const media = request.method === 'GET' && /^\/media\/[\w-]+\.(png|webm)$/.exec(request.url ?? '')?.[1];
    if (media) await showMedia(response, media);
    else if (request.url?.startsWith('/control')) answerControl(simulation, request, response, body);
    else await simulation.answer(request, response, body);
  });
  const server = await startHttpServer(serve, port);
  simulation.tasks.baseUrl = server.url;
  const stop = () => {
    simulation.stop();
    return server.stop();
  };
  return { url: server.url, simulation, stop };
}

/** Every picture is this one, and every film. */
const media: Record<string, { type: string; file: string }> = {
  png: { type: 'image/png', file: 'media/picture.png' },
  webm: { type: 'video/webm', file: 'media/film.webm' },
};

async function showMedia(response: ServerResponse, kind: string): Promise<void> {
  const { type, file } = media[kind] ?? { type: '', file: '' };
  const content = await readFile(new URL(file, import.meta.url));
  response.writeHead(200, { 'content-type': type, 'content-length': content.length }).end(content);
}
