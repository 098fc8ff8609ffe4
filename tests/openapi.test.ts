import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { createConfig, lint } from '@redocly/openapi-core';
import { type ErrorCode, errorCatalog } from '../lib/errors.ts';
import { readNotification } from '../lib/notifications/provider-notification.ts';
import { ErrorBody } from '../lib/schemas/error-body.ts';
import { errorsOf } from '../tools/openapi/answers.ts';
import { findBreakingChanges, mayBreak } from '../tools/openapi/breaking-changes.ts';
import { loadOperations, selfServiceContracts } from '../infra/operations.ts';
import { describeService } from '../tools/openapi/document.ts';
import { sampleIssues } from '../tools/openapi/examples.ts';
import { resultContracts } from '../tools/openapi/task-results.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into every part of the document
type Any = any;

const operations = await loadOperations();
const contracts = operations.map(({ contract }) => contract);
const document: Any = describeService(operations);
const committed: Any = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));

function operation(name: string, { paths }: Any = document): Any {
  return Object.values<Any>(paths)
    .flatMap((path) => Object.values<Any>(path))
    .find(({ operationId }) => operationId === name);
}

describe('docs/openapi.json', () => {
  test('follows from the contracts (npm run openapi writes it)', () => {
    expect(committed).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('passes the recommended rules', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lint({ ref: 'docs/openapi.json', config });

    // Files of the public index and at a status address belong to no operation.
    const files =
      'CatalogPiece IndexConfig IndexedHostNodes IndexedNode IndexedReadme Publishers TaskStatus TopNodes';
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`).sort()).toEqual(
      files.split(' ').map((name) => `no-unused-components: Component: "${name}" is never used.`),
    );
  });
});

describe.each(operations.map((operation) => [operation.contract.name, operation] as const))(
  '%s',
  (name, { contract }) => {
    test('shows a validation error that the service really answers', () => {
      const fault = ErrorBody.parse(sampleIssues(contract));

      expect(fault.details).toEqual([expect.objectContaining({ path: expect.stringMatching(/^body\./) })]);
    });

    test('lists exactly its error codes under their status, each with an example, and asks for a token unless anyone may call', () => {
      const { responses, security } = operation(name);
      const codes = Object.values<Any>(responses).flatMap(({ $ref = '' }) => {
        const { description, content } = document.components.responses[$ref.split('/').at(-1)] ?? {};
        const { schema, examples } = content?.['application/json'] ?? {};
        const listed: string[] = schema?.properties?.error?.enum ?? [];
        for (const code of listed) {
          expect(description).toContain(`\`${code}\`: `);
          expect(schema.$ref).toBe('#/components/schemas/ErrorBody');
          expect(examples[code]).toEqual({ $ref: `#/components/examples/${code}` });
        }
        expect(Object.keys(examples ?? {}).filter((name) => name in errorCatalog)).toEqual(listed);
        return listed;
      });

      const statuses = [contract.status, ...errorsOf(contract).map((code) => errorCatalog[code].status)];
      expect(codes.sort()).toEqual(errorsOf(contract).sort());
      expect(Object.keys(responses)).toEqual([...new Set(statuses.sort().map(String)), 'default']);
      expect(responses.default).toEqual({ $ref: '#/components/responses/GatewayAnswer' });
      expect(security).toEqual(contract.access === 'anyone' ? [] : [{ accessToken: [] }]);
    });
  },
);

test.each(
  [...selfServiceContracts, ...resultContracts].map((contract) => [contract.name, contract] as const),
)(
  'shows a request and a response of %s that its contract accepts',
  (name, { status, body, reply, parameters, query }) => {
    const shown = operation(name);
    const exampleOf = ({ content }: Any) => content?.['application/json'].examples.sample.value;
    const places = shown.parameters.filter((each: Any) => each.in === 'path');
    const given = Object.fromEntries(places.map((each: Any) => [each.name, each.example]));
    const [, asked] = shown['x-codeSamples'][0].source.split("'")[1].split('?');
    const pairs = [
      [parameters, given],
      [query, Object.fromEntries(new URLSearchParams(asked))],
      [body, exampleOf(shown.requestBody ?? {})],
      [reply, exampleOf(shown.responses[status])],
    ] as const;
    for (const [schema, example] of pairs)
      if (typeof schema === 'object') expect(schema.safeParse(example)).toMatchObject({ success: true });
  },
);

test('combines no schemas, since generators would invent a name for the combination', () => {
  expect(JSON.stringify(document)).not.toContain('"allOf"');
});

describe('webhooks', () => {
  test('show a sample of each provider that the service reads as it is documented', () => {
    const samples = Object.values<Any>(document.webhooks).map(({ post }) => [
      post.tags[0] === 'Images' ? 'image' : 'video',
      post.requestBody.content['application/json'].examples.sample.value,
    ]);

    for (const [provider, sample] of samples) {
      const { task_id, media, creations, ...own } = sample;
      const { state } = sample;
      const sent = provider === 'image' ? { ...own, task_id } : { ...own, creations };
      const said = readNotification(provider, JSON.stringify(sent));
      expect(said).toEqual({ state, taskId: task_id, media, creations, error: undefined });
      expect(media).toHaveLength(1);
    }
    expect(samples).toHaveLength(2);
  });

  test('list every state that the service reads, and no other', () => {
    const { state } = document.components.schemas.TaskStatus.properties;
    const readAs = (state: string) => readNotification('video', JSON.stringify({ state }))?.state;

    expect(state.enum.map(readAs)).toEqual(['created', 'processing', 'queueing', 'success', 'failed']);
  });

  test('say that a signature names no receiver, as the document for receivers does', () => {
    const page = readFileSync('docs/notifications.md', 'utf8').replace(/\s+/g, ' ');
    const texts = [page, ...Object.values<Any>(document.webhooks).map(({ post }) => post.description)];

    for (const text of texts) {
      expect(text).toMatch(/cts? only on a (?:task|`task_id`) that (?:you|it) started/);
      expect(text).toContain('unguessable path');
    }
  });
});

/** As the tables of the interface have them. */
const fieldsOf = {
  Node: 'author banner_url category created_at description downloads repo_stars icon id latest_version license name preempted_host_node_names publisher rating repository search_ranking status status_detail supported_accelerators supported_host_frontend_version supported_host_version supported_os tags tags_admin translations',
  NodeVersion:
    'changelog host_node_extract_status createdAt dependencies deprecated downloadUrl id node_id status_reason supported_accelerators supported_host_frontend_version supported_host_version supported_os tags tags_admin version',
  Publisher: 'createdAt description id logo members name source_code_repo support website',
  HostNode:
    'category host_node_name deprecated description experimental function input_types output_is_list policy return_names return_types',
};

/** Every property of every object, at any depth, with its path. */
function propertiesIn(value: Any, path = ''): [string, Any][] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Object.entries<Any>(value.properties ?? {}).map(([name, schema]): [string, Any] => [
    `${path}.${name}`,
    schema,
  ]);
  return [...own, ...Object.entries(value).flatMap(([key, inner]) => propertiesIn(inner, `${path}.${key}`))];
}

describe('the promises of the interface', () => {
  test('lists every error code of the catalog', () => {
    const all = [...contracts, ...selfServiceContracts, ...resultContracts];
    const used = new Set<ErrorCode>(all.flatMap(errorsOf));

    // It answers a path that the document does not have.
    expect([...used, 'route_not_found'].sort()).toEqual(Object.keys(errorCatalog).sort());
  });

  test('marks only what the interface calls response-only as read-only', () => {
    const readOnly = propertiesIn(document.components.schemas).filter(([, { readOnly }]) => readOnly);

    const fields = ['host_node_name', 'display_name', 'conditional', 'left_open'];
    expect(readOnly.map(([path]) => path)).toEqual(fields.map((field) => `.HostNode.${field}`));
    expect(document.components.schemas.UpdateHostNodeRequest.properties).not.toHaveProperty('host_node_name');
  });

  test.each(Object.entries(fieldsOf))(
    'keeps the fields of %s in the order of the interface, and marks additions',
    (name, names) => {
      const { schemas } = document.components;
      const fields = names.split(' ');
      const isAdded = ([, { description, $ref }]: [string, Any]) =>
        /^Added by this service: /.test(description ?? schemas[$ref?.split('/').at(-1)]?.description);
      const added = Object.entries<Any>(schemas[name].properties).filter(isAdded);

      expect(Object.keys(schemas[name].properties)).toEqual([...fields, ...added.map(([field]) => field)]);
      // Any field of a resource may be absent from a response.
      expect(schemas[name]).not.toHaveProperty('required');
      if (name !== 'Node') return;
      const { properties } = schemas.UpdateNodeRequest;
      expect(Object.keys(properties).slice(0, fields.length)).toEqual(fields);
      expect(properties.category.deprecated).toBe(true);
    },
  );

  test('describes every property', () => {
    const bare = propertiesIn(document.components.schemas).filter(
      ([, { description, $ref }]) => description === undefined && $ref === undefined,
    );

    expect(bare.map(([path]) => path)).toEqual([]);
  });

  test('names no schema like a global', () => {
    const names = Object.keys(document.components.schemas);

    expect(names.filter((name) => name in globalThis)).toEqual([]);
  });

  test('accepts null in an optional field of a paid request, as the service does', () => {
    const requests = contracts.filter(({ price }) => price).map(({ name }) => requestOf(name));

    expect(requests).not.toContain(undefined);
    for (const { properties, required = [] } of requests)
      for (const [field, { type, $ref }] of Object.entries<Any>(properties))
        expect([field, $ref !== undefined || [type].flat().includes('null')]).toEqual([
          field,
          !required.includes(field),
        ]);
  });
});

describe('breaking changes', () => {
  const body = 'components.schemas.TextToVideoRequest.properties';
  const reply = 'components.schemas.NodeVersion.properties';
  const notification = 'components.schemas.TaskNotification.properties';
  const indexed = 'components.schemas.IndexedNode.properties';

  test.each<[string, (copy: Any) => unknown]>([
    ['POST /bulk/nodes/versions: api', (copy) => delete copy.paths['/bulk/nodes/versions']],
    ['node_version/changelog` from the response', (copy) => delete at(copy, reply).changelog],
    ['node_version/tags` became nullable', (copy) => (at(copy, reply).tags.type = ['array', 'null'])],
    ['maxLength was decreased to `10`', (copy) => (at(copy, body).prompt.maxLength = 10)],
    [
      '/webhooks/videoTaskChanged: removed the required property `media`',
      (copy) => delete at(copy, notification).media,
    ],
    [
      '/index/v1/nodes/{foldedNodeId}.json: removed the required property `versions`',
      (copy) => delete at(copy, indexed).versions,
    ],
    [
      'text2video: removed the non-success response with the status `429`',
      (copy) => delete operation('textToVideo', copy).responses[429],
    ],
    [
      'the endpoint scheme security `accessToken` was added',
      (copy) => (operation('bulkNodeVersions', copy).security = [{ accessToken: [] }]),
    ],
  ])('finds a break: %s', async (sentence, change) => {
    const copy = structuredClone(committed);
    change(copy);

    expect(await findBreakingChanges(committed, copy)).toContainEqual(expect.stringContaining(sentence));
  });

  test('exclude an added field, optional header, request value or operation', async () => {
    const copy = structuredClone(committed);
    at(copy, body).mood = { type: 'string' };
    at(copy, reply).mood = { type: 'string' };
    at(copy, body).resolution.enum.push('4K');
    at(copy, body).prompt.maxLength += 1;
    operation('textToVideo', copy).parameters.push({
      name: 'x-mood',
      in: 'header',
      schema: { type: 'string' },
    });
    copy.paths['/new'] = {};

    expect(await findBreakingChanges(committed, copy)).toEqual([]);
  });

  test('need a new major version, not a minor one', () => {
    const version = (text: string) => ({ info: { version: text } });

    expect(mayBreak(version('1.4.0'), version('2.0.0'))).toBe(true);
    expect(mayBreak(version('1.4.0'), version('1.5.0'))).toBe(false);
  });
});

function requestOf(name: string): Any {
  return document.components.schemas[`${name.charAt(0).toUpperCase()}${name.slice(1)}Request`];
}

function at(root: Any, path: string): Any {
  return path.split('.').reduce((value, key) => value[key], root);
}
