import { readFileSync } from 'node:fs';
import type { Contract } from '../../lib/contract.ts';
import { type Described, describeAnswers, errorExamples, errorResponses } from './answers.ts';
import { codeSamples, sampleServer } from './code-samples.ts';
import { sampleRequest } from './examples.ts';
import { sampleOf } from './samples.ts';
import { answerHeaders, headerParameters } from './headers.ts';
import type { JsonObject } from '../../lib/json.ts';
import { describeParameters, describeSchemas, reference, requestName } from './schemas.ts';
import { resultContracts } from './task-results.ts';
import { taskSchemas, webhooks } from './webhooks.ts';
import { type Operation, selfServiceContracts } from '../../infra/operations.ts';

const tags = [
  { name: 'Registry', description: 'Nodes, their versions, and the host nodes inside a version' },
  { name: 'Images', description: 'Tasks of the image provider' },
  { name: 'Videos', description: 'Tasks of the video provider' },
  {
    name: 'Self-service',
    description:
      'Added by this service, where the deployment has `selfService=on`: people sign in, make publishers, tokens and trusts, and see what they spend',
  },
] as const;

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

/** Its schema, which the responses refer to. */
const gatewaySchema: JsonObject = {
  type: 'object',
  description: 'A response of the gateway itself, which knows no codes',
  properties: { message: { type: 'string', description: 'What went wrong, for a person' } },
  required: ['message'],
};

/** Part of every operation, next to the function's own responses with the same status. */
const gatewayResponse: JsonObject = {
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

const accessToken = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: "An access token of the deployment's issuer",
};

export function describeService(operations: readonly Operation[]): JsonObject {
  const described: Described[] = [
    ...operations,
    ...[...selfServiceContracts, ...resultContracts].map((contract) => ({
      contract,
      sampleReply: contract.reply && sampleOf(contract.reply, contract.name, 'output'),
    })),
  ];
  const contracts = described.map(({ contract }) => contract);
  const paths: Record<string, JsonObject> = {};
  for (const operation of described.toSorted((a, b) => orderOf(a.contract) - orderOf(b.contract))) {
    const path = pathOf(operation.contract);
    const method = operation.contract.method.toLowerCase();
    paths[path] = { ...paths[path], [method]: describeOperation(operation, contracts) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Node registry and media generation proxy',
      version: packageVersion(),
      description: read('introduction.md').trim(),
      license: { name: 'All rights reserved', identifier: 'LicenseRef-UNLICENSED' },
    },
    servers: [
      {
        url: '{base_url}',
        description: "The deployment's URL; `npm start` has the default",
        // Has no description of its own: swagger-parser, and tools built on it, reject one here.
        variables: { base_url: { default: sampleServer } },
      },
    ],
    tags,
    security: [{ accessToken: [] }],
    paths,
    webhooks,
    'x-public-index': publicIndex,
    components: {
      securitySchemes: { accessToken },
      schemas: { ...describeSchemas(contracts), ...taskSchemas, GatewayAnswer: gatewaySchema },
      responses: { ...errorResponses(contracts), GatewayAnswer: gatewayResponse },
      headers: answerHeaders,
      parameters: headerParameters,
      examples: errorExamples(contracts),
    },
  };
}

/** Files, not operations: they are at the URL of downloads, and need no token. */
const publicIndex = [
  ['index/v1/config.json', 'IndexConfig'],
  ['index/v1/catalog/{pieces}/{piece}.json', 'CatalogPiece'],
  ['index/v1/catalog/publishers.json', 'Publishers'],
  ['index/v1/top.json', 'TopNodes'],
  ['index/v1/nodes/{foldedNodeId}.json', 'IndexedNode'],
  ['index/v1/nodes/{foldedNodeId}/readme.json', 'IndexedReadme'],
  ['index/v1/nodes/{foldedNodeId}/{version}/host-nodes.json', 'IndexedHostNodes'],
].map(([path, name]) => ({ path, schema: reference(String(name)) }));

function describeOperation(operation: Described, contracts: readonly Contract[]): JsonObject {
  const { contract } = operation;
  const sample = sampleRequest(contract);
  const keys = contract.idempotent ? ['Idempotency-Key'] : [];
  const headers = [...keys, ...(contract.headers?.request ?? []), 'x-request-id'];
  const examples = { examples: { sample: { value: sample.body } } };
  const content = { 'application/json': { schema: reference(requestName(contract)), ...examples } };
  return {
    operationId: contract.name,
    summary: contract.summary,
    description: descriptionOf(contract),
    tags: [tagOf(contract)],
    security: securityOf(contract),
    parameters: [
      ...pathParameters(contract, sample.path),
      ...queryParameters(contract),
      ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(contract.body && { requestBody: { required: true, content } }),
    responses: describeAnswers(operation, contracts),
    'x-codeSamples': codeSamples(contract, sample),
  };
}

function securityOf({ access }: Contract): JsonObject[] {
  if (access === 'guest') return [{}, { accessToken: [] }];
  return access === 'anyone' ? [] : [{ accessToken: [] }];
}

function queryParameters({ query }: Contract): JsonObject[] {
  if (!query) return [];
  const required = query.safeParse({}).error?.issues.map(({ path }) => path[0]) ?? [];
  return Object.entries(describeParameters(query)).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description,
    schema,
  }));
}

function pathParameters({ parameters }: Contract, sample: Record<string, string>): JsonObject[] {
  return Object.entries(describeParameters(parameters)).map(([name, { description, ...schema }]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema,
    example: sample[name],
  }));
}

/** OpenAPI has no parameter for the rest of the path. */
function pathOf({ path }: Contract): string {
  return path.replaceAll('+}', '}');
}

function descriptionOf({ description, access }: Contract): string {
  if (typeof access === 'string') return description;
  return `${description}\n\nA deployment with \`${access.userUnless}=optional\` also answers callers without an access token.`;
}

function orderOf(contract: Contract): number {
  return tags.findIndex(({ name }) => name === tagOf(contract));
}

function tagOf(contract: Contract): (typeof tags)[number]['name'] {
  const { path } = contract;
  if (selfServiceContracts.includes(contract)) return 'Self-service';
  if (path.startsWith('/proxy/image-provider/')) return 'Images';
  return path.startsWith('/proxy/') ? 'Videos' : 'Registry';
}

function packageVersion(): string {
  return JSON.parse(read('../../package.json')).version;
}

function read(file: string): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8');
}
