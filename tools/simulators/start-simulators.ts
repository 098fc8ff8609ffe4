import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { parseObject } from '../../lib/json.ts';
import { startLocalServer } from '../local/local-only.ts';
import { type Misbehavior, misbehaviors } from './misbehaviors.ts';
import { promptWordsHelp } from './prompt-words.ts';
import { Simulation } from './simulation.ts';
import type { Fields } from './wire-format.ts';

interface Settings {
  port?: number;
  keys?: Record<'image' | 'video', string>;
  /** How long a task stays in each of its states. */
  tickMs?: number;
  hasEveryFilm?: boolean;
}

/** The keys that serverless.yml gives to the local functions. */
export const localKeys = { image: 'local-image-key', video: 'local-video-key' };

/** Starts both providers on one port: `/image`, `/video`, and `/control` to watch and disturb them. */
export async function startSimulators({
  port = 0,
  keys = localKeys,
  tickMs = 500,
  hasEveryFilm = false,
}: Settings = {}) {
  const simulation = new Simulation({ keys, tickMs, hasEveryFilm });
  const server = await startLocalServer(port, async (request, response) => {
    const body = await text(request);
    const media = request.method === 'GET' && /^\/media\/[\w-]+\.(png|webm)$/.exec(request.url ?? '')?.[1];
    if (media) await showMedia(response, media);
    else if (request.url?.startsWith('/control')) answerControl(simulation, request, response, body);
    else await simulation.answer(request, response, body);
  });
  simulation.tasks.baseUrl = server.url;
  const stop = () => {
    simulation.stop();
    return server.stop();
  };
  return { url: server.url, simulation, stop };
}

/** The only picture, and the only film. */
const media: Record<string, { type: string; file: string }> = {
  png: { type: 'image/png', file: 'media/picture.png' },
  webm: { type: 'video/webm', file: 'media/film.webm' },
};

async function showMedia(response: ServerResponse, kind: string): Promise<void> {
  const { type, file } = media[kind] ?? { type: '', file: '' };
  const content = await readFile(new URL(file, import.meta.url));
  response.writeHead(200, { 'content-type': type, 'content-length': content.length }).end(content);
}

/** What a misbehavior may have, with the values of those that have few. */
const optionsHelp = `kind (${Object.keys(misbehaviors).join(', ')}), provider (image, video), method (POST, GET),
stage (before_headers, after_headers), times, status, ms, bytes, reason, message, invalidParams, retryAfter, text,
contentType, accepted, fields, without`;
const knownOptions = new Set(optionsHelp.match(/\w+/g));

const help = `The provider simulators.

  GET  /control/record       what was received and taken, how the tasks stand, and what is armed to go wrong
  POST /control/misbehave    {"provider":"video","kind":"status","status":429,"retryAfter":1,"times":2}
  POST /control/credits      {"credits":0}
  POST /control/reset        forget all of it

Options: ${optionsHelp}.
With the method GET, a poll of a task fails, and not a purchase.

${promptWordsHelp}`;

const commands: Record<string, (simulation: Simulation, fields: Fields) => object> = {
  'GET /control/record': ({ credits, received, tasks, armed }) => ({
    credits,
    received,
    armed,
    tasks: tasks.list,
  }),
  'POST /control/misbehave': (simulation, fields) => {
    if (!isMisbehavior(fields)) return { error: `options: ${optionsHelp}` };
    simulation.misbehave(fields);
    return fields;
  },
  'POST /control/credits': (simulation, { credits }) => {
    if (typeof credits !== 'number') return { error: 'credits must be a number' };
    simulation.credits = credits;
    return { credits };
  },
  'POST /control/reset': (simulation) => {
    simulation.reset();
    return {};
  },
};

function isMisbehavior(fields: Fields): fields is Fields & Misbehavior {
  const isKnown = Object.keys(fields).every((name) => knownOptions.has(name));
  return isKnown && Object.hasOwn(misbehaviors, String(fields.kind));
}

/** Lets a person with curl, or a test, watch the simulators and make them misbehave. */
function answerControl(
  simulation: Simulation,
  { method, url }: IncomingMessage,
  response: ServerResponse,
  text: string,
): void {
  const command = commands[`${method} ${url}`];
  if (command === undefined) {
    response.writeHead(url === '/control' ? 200 : 404, { 'content-type': 'text/plain' });
    response.end(help);
    return;
  }
  const fields = text === '' ? {} : parseObject(text);
  const content = fields ? command(simulation, fields) : { error: 'the body must be a JSON object' };
  response.writeHead('error' in content ? 400 : 200, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(content, shorten, 2)}\n`);
}

const maxTextLength = 200;

/** Images and payloads would fill the screen. */
function shorten(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > maxTextLength
    ? `${value.slice(0, maxTextLength)}… (${value.length} characters)`
    : value;
}
