import { readFileSync } from 'node:fs';
import type { Task } from './tasks.ts';
import type { Fields, ProviderError, WireFormat } from './wire-format.ts';

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
const video = '/proxy/video-provider';

/** The fields of each operation's request, by the end of its path: the provider accepts no others. */
const knownFields: Record<string, readonly string[]> = Object.fromEntries(
  Object.keys(document.paths)
    .filter((path) => path.startsWith(video) && 'post' in document.paths[path])
    .map((path) => {
      const { schema } = document.paths[path].post.requestBody.content['application/json'];
      const { properties } = document.components.schemas[schema.$ref.split('/').at(-1)];
      return [path.slice(video.length), Object.keys(properties)];
    }),
);

/** Fields of a request that a reply doesn't repeat. */
const notEchoed = new Set([
  ...['audio', 'audio_type', 'callback_url', 'enhance', 'is_rec', 'meta_data', 'priority', 'voice_id'],
  ...['wm_position', 'wm_url'],
]);

export const videoFormat: WireFormat = {
  provider: 'video',
  paths: Object.keys(knownFields),
  states: ['created', 'queueing', 'processing', 'success'],
  failedState: 'failed',
  keyOf: (headers) => /^Token (.+)$/.exec(headers.authorization ?? '')?.[1],
  findError: (path, body, tasks) => {
    const unknown = Object.keys(body).find((name) => !knownFields[path]?.includes(name));
    if (unknown !== undefined) return invalid(`unknown field "${unknown}"`);
    if (Number(body.duration ?? 0) < 0) return invalid('duration must not be negative');
    const source = body.video_creation_id;
    if (source !== undefined && source !== sampleCreation && !tasks.some((task) => isMadeBy(task, source)))
      return invalid('video_creation_id names no creation');
    const isEmpty = path === '/text2video' && !body.prompt && !Array.isArray(body.images);
    return isEmpty ? invalid('prompt or images is required') : undefined;
  },
  creditsOf: ({ duration, is_rec }) => 4 * Number(duration ?? 5) + (is_rec === true ? 10 : 0),
  outOfCredits: { status: 400, reason: 'CreditInsufficient', message: 'credits are insufficient' },
  notifyUrlOf: ({ callback_url }) => callback_url,
  notification: ({ id, state, mediaUrl, credits, payload }) => ({
    id,
    state,
    credits,
    payload,
    creations:
      state === 'success'
        ? [{ id: creationOf(id), url: `${mediaUrl}.webm`, cover_url: `${mediaUrl}.png` }]
        : [],
    ...(state === 'failed' && { err_code: 'The simulated provider was asked to fail' }),
  }),
  askedFor: (path) => /^\/tasks\/(\w+)\/creations$/.exec(path)?.[1],
  reply: (task, body, credits) => ({
    ...required(task, credits),
    created_at: new Date().toISOString().replace('Z', '968916Z'),
    ...Object.fromEntries(Object.entries(body).filter(([name]) => !notEchoed.has(name))),
  }),
  errorBody: ({ status, reason = 'Internal', message = '' }) => ({
    code: status,
    reason,
    message,
    metadata: { trace_id: '1' },
  }),
};

/** The film that the sample event extends. */
const sampleCreation = '867913241582301184-1';

function creationOf(taskId: string): string {
  return `${taskId}-1`;
}

/** A task's own ID names no film. */
function isMadeBy({ id, state }: Task, creation: unknown): boolean {
  return state === 'success' && creation === creationOf(id);
}

function invalid(message: string): ProviderError {
  return { status: 400, reason: 'InvalidArgument', message };
}

function required({ id, state }: Task, credits: number): Fields {
  return { task_id: id, state, credits, type: 'task', extra: { nested: true } };
}
