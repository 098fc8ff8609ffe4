import type { JsonObject } from '../../lib/json.ts';

/** The responses that API Gateway gives without calling a function. */
const gatewayAnswers = [
  [400, 'Bad Request', "the path has an escape that isn't valid UTF-8, such as %ZZ or %FF"],
  [413, 'Request Entity Too Large', 'the body has more than 10 MB'],
  [429, 'Too Many Requests', 'the deployment has too many requests at the moment; nothing was done'],
  [431, 'Request Header Fields Too Large', 'request line and headers have more than 10,240 bytes'],
  [500, 'Internal Server Error', 'the function failed; whether anything was done is unknown'],
  [
    503,
    'Service Unavailable',
    'the function was too busy or took too long; whether anything was done is unknown',
  ],
] as const;

/** Its schema, as the answers refer to it. */
export const gatewaySchema: JsonObject = {
  type: 'object',
  description: 'An answer of the gateway itself, which knows no codes',
  properties: { message: { type: 'string', description: 'What went wrong, for a person' } },
  required: ['message'],
};

/** Part of every operation, next to the function's own responses with the same status. */
export const gatewayResponse: JsonObject = {
  description: [
    'What the gateway answers by itself, without a code and without the headers of the service:',
    ...gatewayAnswers.map(([status, , meaning]) => `- ${status}: ${meaning}`),
  ].join('\n'),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/GatewayAnswer' },
      examples: Object.fromEntries(
        gatewayAnswers.map(([status, message]) => [`gateway_${status}`, { value: { message } }]),
      ),
    },
  },
};
