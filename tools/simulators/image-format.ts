import type { WireFormat } from './wire-format.ts';

export const imageFormat: WireFormat = {
  provider: 'image',
  paths: ['/v1/ai/image-relight'],
  states: ['CREATED', 'IN_PROGRESS', 'COMPLETED'],
  failedState: 'FAILED',
  keyOf: (headers) => String(headers['x-api-key'] ?? ''),
  findError: (_, { image }) =>
    typeof image === 'string'
      ? undefined
      : {
          status: 400,
          message: 'Validation error',
          invalidParams: [{ name: 'image', reason: 'Field required' }],
        },
  creditsOf: () => 1,
  outOfCredits: { status: 402, message: 'Your balance is too low' },
  notifyUrlOf: ({ webhook_url }) => webhook_url,
  notification: ({ id, state, mediaUrl }) => ({
    task_id: id,
    status: state,
    generated: state === 'COMPLETED' ? [`${mediaUrl}.png`] : [],
    ...(state === 'FAILED' && { message: 'The simulated provider was asked to fail' }),
  }),
  askedFor: (path) => /^\/v1\/ai\/image-relight\/([\w-]+)$/.exec(path)?.[1],
  reply: ({ id, state }) => ({ data: { task_id: id, status: state, generated: [] } }),
  errorBody: ({ message, invalidParams }) => ({
    message,
    ...(invalidParams && { invalid_params: invalidParams }),
  }),
};
