import { taskFields } from '../../lib/schemas/video.ts';
import type { JsonObject } from '../../lib/json.ts';
import { reference } from './schemas.ts';

/** The headers of the Standard Webhooks specification. */
const signed: JsonObject[] = [
  header(
    'webhook-id',
    'Names the notification. It is the same in every try, so a receiver knows a repetition by it',
    'msg_0f3a5c7e9b1d2f4a6c8e0b2d4f6a8c0e1b3d5f7a9c1e3b5d7f9a1c3e5b7d9f1a_2',
  ),
  header(
    'webhook-timestamp',
    'When this try was made, in seconds since 1970; reject one that is older than five minutes',
    '1795176000',
    '^\\d+$',
  ),
  header(
    'webhook-signature',
    'One or more Ed25519 signatures of `<webhook-id>.<webhook-timestamp>.<body>`, as `v1a,` and base64, separated by blanks; one that is valid is enough',
    'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
  ),
];

function header(name: string, description: string, example: string, pattern?: string): JsonObject {
  const schema = { type: 'string', ...(pattern && { pattern }) };
  return { name, in: 'header', required: true, description, schema, example };
}

const description =
  'A deployment with `NOTIFICATIONS=relay`, which is the default, sends this itself, once for each change of the task: the provider’s own object with the fields that every notification has, and with your own address where the provider repeats the one that this service gave it. It makes eight attempts within 21 hours until the receiver answers 2xx, so a notification may arrive more than once and after a later one. With `NOTIFICATIONS=direct` the provider sends its own object itself, unsigned. A signature does not say whom a notification is for: act only on a task that you started yourself, and give an address with an unguessable path. It must be `https`: a notification has the URLs of results, which anyone on the way of plain `http` could read.';

const state = {
  type: 'string',
  enum: taskFields.state.options,
  description:
    'How the task stands, in the same words for both providers; the last two are final, but success may follow failed',
};

/** The fields of every notification and every status. */
const common: JsonObject = {
  task_id: text('The task; absent if the provider has not named it yet'),
  state,
  provider_state: text('The provider’s word, if its meaning is unknown; state is the last known one then'),
  media: list({ type: 'string', format: 'uri' }, 'URLs of what was made'),
  creations: list(
    {
      type: 'object',
      properties: {
        id: text('ID of the film: the `video_creation_id` of a request that extends it'),
        url: text('Where the film is downloaded'),
        cover_url: text('A still of the film; empty if the provider gives none'),
      },
      required: ['id', 'url'],
    },
    'The films, as their provider lists them; empty for images',
  ),
  error: text('Why the task failed, in a sentence'),
};

function text(description: string): JsonObject {
  return { type: 'string', description };
}

function list(items: JsonObject, description: string): JsonObject {
  return { type: 'array', items, description };
}

/** The bodies of notifications and of the status URL. */
export const taskSchemas: JsonObject = {
  TaskNotification: {
    description: 'What the provider says about a task, with the same fields for both providers',
    type: 'object',
    properties: {
      ...common,
      id: text('The task_id, as the video provider calls it'),
      status: text('The state in the words of the image provider'),
      generated: list({ type: 'string' }, 'Images, as their provider lists them'),
    },
    required: ['state', 'media', 'creations'],
  },
  TaskStatus: {
    type: 'object',
    description:
      'What the status address of a task answers (`Link: <…>; rel="status"`): 404 until the provider has said something and after seven days',
    properties: {
      ...common,
      updated_at: {
        type: 'string',
        format: 'date-time',
        description: 'When the provider said it; at the status address only',
      },
    },
    required: ['state', 'media', 'creations'],
  },
};

/** The notifications that callers receive at the URL that they give. */
export const webhooks: JsonObject = {
  relightTaskChanged: notification({
    operationId: 'relightTaskChanged',
    summary: 'A relight task has changed (sent to webhook_url)',
    tag: 'Images',
    sample: {
      task_id: '046b6c7f-0b8a-43b9-b35d-6489e6daee91',
      state: 'success',
      media: ['https://images.example.com/046b6c7f.png'],
      creations: [],
      status: 'COMPLETED',
      generated: ['https://images.example.com/046b6c7f.png'],
    },
  }),
  videoTaskChanged: notification({
    operationId: 'videoTaskChanged',
    summary: 'A video task has changed (sent to callback_url)',
    tag: 'Videos',
    sample: {
      task_id: '867913241582301184',
      media: ['https://videos.example.com/867913241582301184.mp4'],
      id: '867913241582301184',
      state: 'success',
      creations: [
        {
          id: '867913241582301184-1',
          url: 'https://videos.example.com/867913241582301184.mp4',
          cover_url: 'https://videos.example.com/867913241582301184.jpeg',
        },
      ],
    },
  }),
};

function notification({ tag, sample, ...named }: JsonObject): JsonObject {
  const schema = reference('TaskNotification');
  const examples = { sample: { value: sample } };
  return {
    post: {
      ...named,
      description,
      tags: [tag],
      // The signature replaces a token.
      security: [],
      parameters: signed,
      requestBody: { required: true, content: { 'application/json': { schema, examples } } },
      responses: {
        '2XX': { description: 'Received: it is not sent again' },
        '410': { description: 'Not wanted any more: it is not sent again' },
      },
    },
  };
}
