import type { JsonObject } from '../../lib/json.ts';
import { curlSample } from './code-samples.ts';
import { sampleError } from './examples.ts';
import { reference } from './schemas.ts';

const about =
  'Added by this service, with `resultRoutes=on` and `notifications=relay`, which are the defaults: the path at which clients of the provider wait for a task. It answers what the provider has told, and calls no provider. It needs the access token of the task’s buyer, and has an answer for 14 days.';

const missing = sampleError('task_not_found');

function operation(
  path: string,
  operationId: string,
  tag: string,
  task_id: string,
  reply: string,
  sample: object,
): JsonObject {
  const json = (name: string, value: object) => ({
    headers: { 'x-request-id': { $ref: '#/components/headers/x-request-id' } },
    content: { 'application/json': { schema: reference(name), examples: { sample: { value } } } },
  });
  const failed = (name: string) => ({ $ref: `#/components/responses/${name}` });
  return {
    operationId,
    summary: 'Ask for the result of a task',
    description: about,
    tags: [tag],
    security: [{ accessToken: [] }],
    parameters: [
      {
        name: 'task_id',
        in: 'path',
        required: true,
        description: 'The `task_id` of the paid answer',
        schema: { type: 'string' },
        example: task_id,
      },
      { $ref: '#/components/parameters/x-request-id' },
    ],
    responses: {
      200: { description: 'Done', ...json(reply, sample) },
      401: failed('Unauthorized'),
      404: { description: missing.message, ...json('ErrorBody', missing) },
      500: failed('InternalError'),
      default: failed('GatewayAnswer'),
    },
    'x-codeSamples': [curlSample('GET', path.replace('{task_id}', task_id), true)],
  };
}

const film = '867913241582301184';
const picture = '046b6c7f-0b8a-43b9-b35d-6489e6daee91';

const relight = '/proxy/image-provider/v1/ai/image-relight/{task_id}';
const creations = '/proxy/video-provider/tasks/{task_id}/creations';

/** Not operations of the interface. */
export const resultPaths: JsonObject = {
  [relight]: {
    get: operation(relight, 'relightResult', 'Images', picture, 'RelightReply', {
      data: { task_id: picture, status: 'COMPLETED', generated: ['https://images.example/relit.png'] },
    }),
  },
  [creations]: {
    get: operation(creations, 'taskCreations', 'Videos', film, 'CreationsReply', {
      id: film,
      state: 'success',
      err_code: '',
      creations: [{ id: `${film}-1`, url: 'https://videos.example/film.mp4', cover_url: '' }],
    }),
  },
};
