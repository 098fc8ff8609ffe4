import { readFileSync } from 'node:fs';
import type { Contract } from '../../lib/contract.ts';
import { describeAnswers, errorExamples, errorResponses } from './answers.ts';
import { sampleRequest } from './examples.ts';
import { gatewayResponse, gatewaySchema } from './gateway.ts';
import { answerHeaders, headerParameters } from './headers.ts';
import type { JsonObject } from '../../lib/json.ts';
import { describeParameters, describeSchemas, reference, requestName } from './schemas.ts';
import { taskSchemas, webhooks } from './webhooks.ts';

const tags = [
  { name: 'Registry', description: 'Nodes, their versions, and the host nodes inside a version' },
  { name: 'Images', description: 'Tasks of the image provider' },
  { name: 'Videos', description: 'Tasks of the video provider' },
] as const;

/** The OpenAPI document of all contracts. */
export function describeService(contracts: readonly Contract[]): JsonObject {
  const operations = contracts
    .toSorted((a, b) => orderOf(a) - orderOf(b))
    .map((contract) => [
      pathOf(contract),
      { [contract.method.toLowerCase()]: describeOperation(contract, contracts) },
    ]);
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
        description: 'The deployment',
        variables: {
          base_url: {
            default: 'http://localhost:3000',
            description: 'Its address; `npm start` has this one',
          },
        },
      },
    ],
    tags,
    security: [{ accessToken: [] }],
    paths: Object.fromEntries(operations),
    webhooks,
    'x-public-index': publicIndex,
    components: {
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: "An access token of the deployment's issuer",
        },
      },
      schemas: { ...describeSchemas(contracts), ...taskSchemas, GatewayAnswer: gatewaySchema },
      responses: { ...errorResponses(contracts), GatewayAnswer: gatewayResponse },
      headers: answerHeaders,
      parameters: headerParameters,
      examples: errorExamples(contracts),
    },
  };
}

/** Files, not operations: they lie where archives are downloaded, and need no token. */
const publicIndex = [
  ['index/v1/config.json', 'IndexConfig'],
  ['index/v1/catalog/{pieces}/{piece}.json', 'CatalogPiece'],
  ['index/v1/nodes/{foldedNodeId}.json', 'IndexedNode'],
  ['index/v1/nodes/{foldedNodeId}/readme.json', 'IndexedReadme'],
  ['index/v1/nodes/{foldedNodeId}/{version}/host-nodes.json', 'IndexedHostNodes'],
].map(([path, name]) => ({ path, schema: reference(String(name)) }));

function describeOperation(contract: Contract, contracts: readonly Contract[]): JsonObject {
  const sample = sampleRequest(contract);
  return {
    operationId: contract.name,
    summary: contract.summary,
    description: descriptionOf(contract),
    tags: [tagOf(contract)],
    security: contract.access === 'anyone' ? [] : [{ accessToken: [] }],
    parameters: [
      ...pathParameters(contract, sample.path),
      ...[
        ...(contract.idempotent ? ['Idempotency-Key'] : []),
        ...(contract.headers?.request ?? []),
        'x-request-id',
      ].map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: reference(requestName(contract)),
          examples: { sample: { value: sample.body } },
        },
      },
    },
    responses: describeAnswers(contract, contracts),
  };
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

/** OpenAPI has no parameter that takes the rest of the path. */
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

function tagOf({ path }: Contract): (typeof tags)[number]['name'] {
  if (path.startsWith('/proxy/image-provider/')) return 'Images';
  return path.startsWith('/proxy/') ? 'Videos' : 'Registry';
}

function packageVersion(): string {
  return JSON.parse(read('../../package.json')).version;
}

function read(file: string): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8');
}
