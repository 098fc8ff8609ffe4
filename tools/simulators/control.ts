import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Misbehavior, misbehaviors } from './misbehaviors.ts';
import type { Simulation } from './simulation.ts';

const kinds = Object.keys(misbehaviors);

const help = `The provider simulators.

  GET  /control/record       what was received and taken, how the tasks stand, and what is armed to go wrong
  POST /control/misbehave    {"provider":"video","kind":"status","status":429,"retryAfter":1,"times":2}
  POST /control/credits      {"credits":0}
  POST /control/reset        forget all of it

Kinds: ${kinds.join(', ')}.
Options: provider (image, video), times, status, reason, message, retryAfter, ms, bytes, text, contentType,
stage (before_headers, after_headers), accepted, fields, without.
`;

const commands: Record<string, (simulation: Simulation, text: string) => object> = {
  'GET /control/record': ({ credits, received, tasks, armed }) => ({
    ...{ credits, received, armed },
    tasks: tasks.list,
  }),
  'POST /control/misbehave': (simulation, text) => {
    const misbehavior: Misbehavior = JSON.parse(text);
    if (!kinds.includes(misbehavior.kind)) return { error: `kind must be one of ${kinds.join(', ')}` };
    simulation.misbehave(misbehavior);
    return misbehavior;
  },
  'POST /control/credits': (simulation, text) => {
    simulation.credits = Number(JSON.parse(text).credits);
    return { credits: simulation.credits };
  },
  'POST /control/reset': (simulation) => {
    simulation.reset();
    return {};
  },
};

/** Lets a person with curl, or a test, watch the simulators and make them misbehave. */
export function answerControl(
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
  const content = command(simulation, text);
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
