import { RelightStatus } from '../../lib/schemas/relight.ts';
import { taskFields } from '../../lib/schemas/video.ts';
import type { JsonObject } from './json.ts';

/** The headers of the Standard Webhooks specification. */
const signed: JsonObject[] = [
  {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description:
      'Names the notification. It is the same in every attempt, so a receiver knows a repetition by it',
    schema: { type: 'string' },
    example: 'msg_0f3a5c7e9b1d2f4a6c8e0b2d4f6a8c0e1b3d5f7a9c1e3b5d7f9a1c3e5b7d9f1a_2',
  },
  {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description:
      'When this attempt was made, in seconds since 1970; reject one that is older than five minutes',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1795176000',
  },
  {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'One or more Ed25519 signatures of `<webhook-id>.<webhook-timestamp>.<body>`, as `v1a,` and base64, separated by blanks; one that is valid is enough',
    schema: { type: 'string' },
    example: 'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
  },
];

const description =
  'A deployment with `NOTIFICATIONS=relay` sends this itself, once for each change of the task, with the body of the provider as it came, except that your own address stands where the provider repeats the one that this service gave it. It tries for 24 hours until the receiver answers 2xx, so a notification may arrive more than once and after a later one. With `NOTIFICATIONS=direct` the provider sends the same body itself, unsigned. A signature does not say whom a notification is for: act only on a task that you started yourself, and give an address with a path that nobody can guess.';

/** The notifications that callers receive at the URL that they give. */
export const webhooks: JsonObject = {
  relightTaskChanged: notification({
    operationId: 'relightTaskChanged',
    summary: 'The status of a relight task has changed (sent to webhook_url)',
    tag: 'Images',
    properties: {
      task_id: { type: 'string' },
      status: { type: 'string', enum: RelightStatus.options },
      generated: { type: 'array', items: { type: 'string' }, description: 'URLs of the generated images' },
    },
    required: ['status'],
    sample: {
      task_id: '046b6c7f-0b8a-43b9-b35d-6489e6daee91',
      status: 'COMPLETED',
      generated: ['https://images.example.com/046b6c7f.png'],
    },
  }),
  videoTaskChanged: notification({
    operationId: 'videoTaskChanged',
    summary: 'The state of a video task has changed (sent to callback_url)',
    tag: 'Videos',
    properties: {
      id: { type: 'string', description: 'The task_id' },
      state: { type: 'string', enum: taskFields.state.options },
      creations: {
        type: 'array',
        description: 'What was made, where the task has succeeded',
        items: { type: 'object', properties: { id: { type: 'string' }, url: { type: 'string' } } },
      },
    },
    required: ['state'],
    sample: {
      id: '867913241582301184',
      state: 'success',
      creations: [{ id: '1', url: 'https://videos.example.com/867913241582301184.mp4' }],
    },
  }),
};

interface Notification {
  operationId: string;
  summary: string;
  tag: string;
  properties: JsonObject;
  required: string[];
  sample: JsonObject;
}

function notification({ operationId, summary, tag, properties, required, sample }: Notification): JsonObject {
  return {
    post: {
      operationId,
      summary,
      description,
      tags: [tag],
      // The signature stands for a token.
      security: [],
      parameters: signed,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              description: 'What the provider sent; it may have more fields',
              properties,
              required,
            },
            examples: { sample: { value: sample } },
          },
        },
      },
      responses: {
        '2XX': { description: 'Received: it is not sent again' },
        '410': { description: 'Not wanted any more: it is not sent again' },
      },
    },
  };
}
