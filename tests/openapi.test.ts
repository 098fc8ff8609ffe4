import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { type ErrorCode, errorCatalog } from '../lib/errors.ts';
import { readNotification } from '../lib/notifications/provider-notification.ts';
import { ErrorBody } from '../lib/schemas/error-body.ts';
import { errorsOf } from '../tools/openapi/answers.ts';
import { findBreakingChanges, mayBreak } from '../tools/openapi/breaking-changes.ts';
import { loadOperations } from '../infra/operations.ts';
import { describeService } from '../tools/openapi/document.ts';
import { sampleIssues } from '../tools/openapi/examples.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into every part of the document
type Any = any;

const operations = await loadOperations();
const contracts = operations.map(({ contract }) => contract);
const document: Any = describeService(operations);
const committed: Any = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));

function operation(name: string): Any {
  const { path, method } = contracts.find((contract) => contract.name === name) ?? contracts[0] ?? fail();
  return document.paths[path.replace('+}', '}')][method.toLowerCase()];
}

function fail(): never {
  throw new Error('there are no contracts');
}

describe('docs/openapi.json', () => {
  test('follows from the contracts (npm run openapi writes it)', () => {
    expect(committed).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('passes the recommended rules', () => {
    const command = ['lint', 'docs/openapi.json', '--extends', 'recommended', '--format', 'json'];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const report = execFileSync('node_modules/.bin/redocly', command, {
      encoding: 'utf8',
      env,
      stdio: 'pipe',
    });
    const { problems }: { problems: { ruleId: string; message: string }[] } = JSON.parse(report);

    // Files of the public index and at a status address belong to no operation.
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`).sort()).toEqual(
      [
        'CatalogPiece',
        'IndexConfig',
        'IndexedHostNodes',
        'IndexedNode',
        'IndexedReadme',
        'TaskStatus',
        'TopNodes',
      ].map((name) => `no-unused-components: Component: "${name}" is never used.`),
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

      expect(codes.sort()).toEqual(errorsOf(contract).sort());
      expect(Object.keys(responses)).toEqual(
        [
          ...new Set(
            [contract.status, ...errorsOf(contract).map((code) => errorCatalog[code].status)].sort(),
          ),
          'default',
        ].map(String),
      );
      expect(responses.default).toEqual({ $ref: '#/components/responses/GatewayAnswer' });
      expect(security).toEqual(contract.access === 'anyone' ? [] : [{ accessToken: [] }]);
    });
  },
);

test('combines no schemas, since generators would invent a name for the combination', () => {
  expect(JSON.stringify(document)).not.toContain('"allOf"');
});

test('names each error response after its code, or after who returns it and its status', () => {
  const names = Object.keys(document.components.responses);
  const paths = Object.values<Any>(document.paths).flatMap((path) => Object.values<Any>(path));
  const used = paths.flatMap(({ responses }) => Object.values<Any>(responses).map(({ $ref }) => $ref));

  for (const name of names) {
    expect(name).toMatch(/^[A-Z][A-Za-z]{3,40}$/);
    expect(used).toContain(`#/components/responses/${name}`);
  }
});

describe('webhooks', () => {
  test('show a sample of each provider that the service reads as it is documented', () => {
    const samples = Object.values<Any>(document.webhooks).map(({ post }) => [
      post.tags[0] === 'Images' ? 'image' : 'video',
      post.requestBody.content['application/json'].examples.sample.value,
    ]);

    for (const [provider, sample] of samples) {
      const { task_id, media, ...own } = sample;
      const { state } = sample;
      const said = readNotification(
        provider,
        JSON.stringify(provider === 'image' ? { ...own, task_id } : own),
      );
      expect(said).toEqual({ state, taskId: task_id, media, error: undefined });
      expect(media).toHaveLength(1);
    }
    expect(samples).toHaveLength(2);
  });

  test('list every state that the service reads, and no other', () => {
    const { properties } = document.components.schemas.TaskStatus;

    expect(
      properties.state.enum.map(
        (state: string) => readNotification('video', JSON.stringify({ state }))?.state,
      ),
    ).toEqual(['created', 'processing', 'queueing', 'success', 'failed']);
  });

  test('say that a signature names no receiver, as every document does that shows how to check one', () => {
    const texts = [
      ...Object.values<Any>(document.webhooks).map(({ post }) => post.description),
      ...['docs/notifications.md', 'packages/registry-client/README.md'].map((file) =>
        readFileSync(file, 'utf8').replace(/\s+/g, ' '),
      ),
    ];

    for (const text of texts) {
      expect(text).toMatch(/cts? only on a (?:task|`task_id`) that (?:you|it) started/);
      expect(text).toContain('unguessable path');
    }
  });
});

test('gives the gateway’s answers their own shape, with a message that every reader of errors finds', () => {
  const { GatewayAnswer } = document.components.responses;
  const { examples } = GatewayAnswer.content['application/json'];

  expect(document.components.schemas.GatewayAnswer.required).toEqual(['message']);
  expect(document.components.schemas.ErrorBody.required).toContain('message');
  expect(Object.keys(examples)).toEqual([400, 413, 429, 431, 500, 503].map((status) => `gateway_${status}`));
});

/** As the tables of the interface have them. */
const fieldsOf = {
  Node: 'author banner_url category created_at description downloads repo_stars icon id latest_version license name preempted_host_node_names publisher rating repository search_ranking status status_detail supported_accelerators supported_host_frontend_version supported_host_version supported_os tags tags_admin translations'.split(
    ' ',
  ),
  NodeVersion:
    'changelog host_node_extract_status createdAt dependencies deprecated downloadUrl id node_id status_reason supported_accelerators supported_host_frontend_version supported_host_version supported_os tags tags_admin version'.split(
      ' ',
    ),
  Publisher: 'createdAt description id logo members name source_code_repo support website'.split(' '),
  HostNode:
    'category host_node_name deprecated description experimental function input_types output_is_list policy return_names return_types'.split(
      ' ',
    ),
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
    const used = new Set<ErrorCode>(contracts.flatMap(errorsOf));

    // It is the answer to a path that the document does not have.
    expect([...used, 'route_not_found'].sort()).toEqual(Object.keys(errorCatalog).sort());
  });

  test('marks only what the interface calls response-only as read-only', () => {
    const readOnly = Object.entries<Any>(document.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries<Any>(properties).flatMap(([field, schema]) =>
        schema.readOnly ? [`${name}.${field}`] : [],
      ),
    );

    const ours = ['display_name', 'conditional', 'left_open'].map((field) => `HostNode.${field}`);
    expect(readOnly).toEqual(['HostNode.host_node_name', ...ours]);
    expect(document.components.schemas.UpdateHostNodeRequest.properties).not.toHaveProperty('host_node_name');
  });

  test.each([
    ['Node', 'UpdateNodeRequest', fieldsOf.Node],
    ['NodeVersion', undefined, fieldsOf.NodeVersion],
    ['Publisher', undefined, fieldsOf.Publisher],
    ['HostNode', undefined, fieldsOf.HostNode],
  ])('keeps the fields of %s in the order of the interface, and marks additions', (name, request, fields) => {
    const { properties } = document.components.schemas[name];
    const added = Object.entries<Any>(properties).flatMap(([field, { description, $ref }]) =>
      /^Added by this service: /.test(
        description ?? document.components.schemas[$ref?.split('/').at(-1)]?.description,
      )
        ? [field]
        : [],
    );

    expect(Object.keys(properties)).toEqual([...fields, ...added]);
    // Any field of a resource may be absent from a response.
    if (!name.endsWith('Request')) expect(document.components.schemas[name]).not.toHaveProperty('required');
    if (request)
      expect(Object.keys(document.components.schemas[request].properties).slice(0, fields.length)).toEqual(
        fields,
      );
  });

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

  test.each<[string, (copy: Any) => unknown]>([
    ['POST /bulk/nodes/versions', (copy) => delete copy.paths['/bulk/nodes/versions']],
    ['text2video body.prompt', (copy) => delete at(copy, body).prompt],
    ['201.node_version.changelog', (copy) => delete at(copy, reply).changelog],
    ['body.resolution 360p', (copy) => at(copy, body).resolution.enum.shift()],
    [
      '201.node_version.tags may be null',
      (copy) => Object.assign(at(copy, reply).tags, { type: ['array', 'null'] }),
    ],
    ['body.prompt maxLength is narrower: 10', (copy) => (at(copy, body).prompt.maxLength = 10)],
    ['body.duration minimum is narrower: 3', (copy) => (at(copy, body).duration.minimum = 3)],
    ['text2video 429', (copy) => delete generate(copy).responses[429]],
    ['text2video Idempotency-Key', (copy) => generate(copy).parameters.shift()],
    [
      'body.prompt is required',
      (copy) => copy.components.schemas.RelightImageRequest.required.push('prompt'),
    ],
    [
      'requires a token',
      (copy) => (copy.paths['/bulk/nodes/versions'].post.security = [{ accessToken: [] }]),
    ],
  ])('finds a break: %s', (sentence, change) => {
    const copy = structuredClone(committed);
    change(copy);

    expect(findBreakingChanges(committed, copy)).toContainEqual(
      expect.stringMatching(new RegExp(`${sentence}( is gone)?$`)),
    );
  });

  test('exclude an added field, optional header, request value or operation', () => {
    const copy = structuredClone(committed);
    at(copy, body).mood = { type: 'string' };
    at(copy, reply).mood = { type: 'string' };
    at(copy, body).resolution.enum.push('4K');
    at(copy, body).prompt.maxLength += 1;
    generate(copy).parameters.push({ name: 'x-mood', in: 'header', schema: { type: 'string' } });
    copy.paths['/new'] = {};

    expect(findBreakingChanges(committed, copy)).toEqual([]);
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

function generate(root: Any): Any {
  return root.paths['/proxy/video-provider/text2video'].post;
}
