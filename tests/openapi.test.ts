import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { type ErrorCode, errorCatalog } from '../lib/errors.ts';
import { bodySchema } from '../lib/contract.ts';
import * as config from '../lib/config.ts';
import { readNotification } from '../lib/notifications/provider-notification.ts';
import { ErrorBody } from '../lib/schemas/error-body.ts';
import { errorsOf } from '../tools/openapi/answers.ts';
import { findBreakingChanges, mayBreak } from '../tools/openapi/breaking-changes.ts';
import { loadContracts } from '../tools/openapi/contracts.ts';
import { describeService } from '../tools/openapi/document.ts';
import { sampleIssues, sampleRequest } from '../tools/openapi/examples.ts';
import { sampleReplies } from '../tools/openapi/replies.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into every part of the document
type Any = any;

const contracts = await loadContracts();
const document: Any = describeService(contracts);
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

  test('is valid and clean by the recommended rules', () => {
    const command = ['lint', 'docs/openapi.json', '--extends', 'recommended', '--format', 'json'];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const report = execFileSync('node_modules/.bin/redocly', command, {
      encoding: 'utf8',
      env,
      stdio: 'pipe',
    });
    const { totals } = JSON.parse(report);

    expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
  });

  test('has every operation of serverless.yml, and not the route that only providers call', () => {
    const routes = [
      ...readFileSync('serverless.yml', 'utf8').matchAll(/httpApi: (\w+) (?!\/notifications\/)(\S+)/g),
    ];
    const described = Object.entries(document.paths).flatMap(([path, methods]: Any) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );

    expect(described.sort()).toEqual(
      routes.map(([route]) => route.replace('httpApi: ', '').replace('+}', '}')).sort(),
    );
  });
});

describe.each(contracts.map((contract) => [contract.name, contract] as const))('%s', (name, contract) => {
  test('accepts its sample event, and its sample reply matches its schema', () => {
    const { path, body } = sampleRequest(contract);
    const reply = sampleReplies[name];

    expect(contract.parameters.safeParse(path).error).toBeUndefined();
    expect(bodySchema(contract, config.videoRules).safeParse(body).error).toBeUndefined();
    expect(contract.reply.parse(reply)).toEqual(reply);
  });

  test('shows a validation error that the service really answers', () => {
    const fault = ErrorBody.parse(sampleIssues(contract));

    expect(fault.details).toEqual([expect.objectContaining({ path: expect.stringMatching(/^body\./) })]);
  });

  test('lists every error code under its status, each with an example', () => {
    const { responses } = operation(name);

    for (const code of errorsOf(contract)) {
      const { schema, examples } = responses[errorCatalog[code].status].content['application/json'];
      expect(schema.allOf[1].properties.error.enum).toContain(code);
      expect(examples).toHaveProperty(code);
    }
  });

  test('says what the gateway answers by itself', () => {
    expect(operation(name).responses.default).toEqual({ $ref: '#/components/responses/GatewayAnswer' });
  });

  test('requires a token unless anyone may call', () => {
    expect(operation(name).security).toEqual(contract.access === 'anyone' ? [] : [{ accessToken: [] }]);
  });
});

describe('webhooks', () => {
  test('have a sample of each provider that the service reads as it is documented', () => {
    const samples = Object.values<Any>(document.webhooks).map(({ post }) => [
      post.tags[0] === 'Images' ? 'image' : 'video',
      post.requestBody.content['application/json'].examples.sample.value,
    ]);

    expect(samples.map(([provider, sample]) => readNotification(provider, JSON.stringify(sample)))).toEqual([
      { state: 'success', taskId: '046b6c7f-0b8a-43b9-b35d-6489e6daee91' },
      { state: 'success', taskId: '867913241582301184' },
    ]);
  });

  test('list every state that the service reads, and no other', () => {
    for (const { post } of Object.values<Any>(document.webhooks)) {
      const { properties } = post.requestBody.content['application/json'].schema;
      const [field, provider] = properties.status
        ? (['status', 'image'] as const)
        : (['state', 'video'] as const);
      const states = properties[field].enum.map(
        (word: string) => readNotification(provider, JSON.stringify({ [field]: word }))?.state,
      );
      expect(states).not.toContain(undefined);
      expect(new Set(states).size).toBe(provider === 'image' ? 4 : 5);
    }
  });

  test('are sent with the three headers of the Standard Webhooks specification', () => {
    for (const { post } of Object.values<Any>(document.webhooks))
      expect(post.parameters.map(({ name }: Any) => name)).toEqual([
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ]);
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
      expect(text).toMatch(/path that nobody can guess/);
    }
  });
});

test('the gateway’s answers have its own shape, with a message that every reader of errors finds', () => {
  const { GatewayAnswer } = document.components.responses;
  const { examples } = GatewayAnswer.content['application/json'];

  expect(document.components.schemas.GatewayAnswer.required).toEqual(['message']);
  expect(document.components.schemas.Error.required).toContain('message');
  expect(Object.keys(examples)).toEqual([413, 429, 431, 500, 503].map((status) => `gateway_${status}`));
});

describe('what the interface promises', () => {
  test('the document lists every error code of the catalog', () => {
    const used = new Set<ErrorCode>(contracts.flatMap(errorsOf));

    // It is the answer to a path that the document does not have.
    expect([...used, 'route_not_found'].sort()).toEqual(Object.keys(errorCatalog).sort());
  });

  test('the document has every limit and default', () => {
    const { RelightImageRequest, ExtendVideoRequest, MultiframeVideoRequest, TextToVideoRequest } =
      document.components.schemas;

    expect(RelightImageRequest.properties.light_transfer_strength).toMatchObject({
      minimum: 0,
      maximum: 100,
      default: 100,
    });
    expect(RelightImageRequest.properties.style.default).toBe('standard');
    expect(ExtendVideoRequest.properties.duration).toMatchObject({ minimum: 1, maximum: 7, default: 5 });
    expect(MultiframeVideoRequest.properties.image_settings).toMatchObject({ minItems: 2, maxItems: 9 });
    expect(TextToVideoRequest.properties.wm_position).toMatchObject({ minimum: 1, maximum: 4 });
    expect(TextToVideoRequest.properties.prompt.maxLength).toBe(2000);
    expect(TextToVideoRequest.properties.payload.maxLength).toBe(1_048_576);
  });

  test('fields that only the service sets are read-only in every request', () => {
    const { Node, NodeVersion, HostNode, UpdateNodeRequest, PublishNodeVersionRequest } =
      document.components.schemas;
    const version = PublishNodeVersionRequest.properties.node_version.properties;

    for (const schema of [Node, UpdateNodeRequest])
      for (const field of ['created_at', 'downloads', 'repo_stars', 'rating', 'latest_version', 'publisher'])
        expect([field, schema.properties[field].readOnly]).toEqual([field, true]);
    for (const field of ['downloadUrl', 'createdAt', 'status']) {
      expect(NodeVersion.properties[field].readOnly).toBe(true);
      expect(version[field].readOnly).toBe(true);
    }
    expect(HostNode.properties.host_node_name.readOnly).toBe(true);
    expect(Node.properties.name.readOnly).toBeUndefined();
  });

  test('category is marked as deprecated', () => {
    const { Node, UpdateNodeRequest } = document.components.schemas;

    expect(Node.properties.category.deprecated).toBe(true);
    expect(UpdateNodeRequest.properties.category.deprecated).toBe(true);
  });
});

describe('breaking changes', () => {
  const body = 'components.schemas.ExtendVideoRequest.properties';
  const reply = 'components.schemas.NodeVersion.properties';

  test('the committed document has none without a new major version', () => {
    expect(mayBreak(committed, document) ? [] : findBreakingChanges(committed, document)).toEqual([]);
  });

  test.each<[string, (copy: Any) => unknown, string]>([
    [
      'an operation',
      (copy) => delete copy.paths['/bulk/nodes/versions'],
      'POST /bulk/nodes/versions is gone',
    ],
    ['a field of a request', (copy) => delete at(copy, body).prompt, 'body.prompt is gone'],
    ['a field of an answer', (copy) => delete at(copy, reply).changelog, 'changelog is gone'],
    ['a value of a list', (copy) => at(copy, body).resolution.enum.shift(), 'no longer knows 540p'],
    ['a limit', (copy) => Object.assign(at(copy, body).duration, { maximum: 6 }), 'narrower maximum'],
    ['a type', (copy) => Object.assign(at(copy, reply).tags, { type: ['array', 'null'] }), 'may now be null'],
    ['an answer', (copy) => delete extend(copy).responses[429], 'no longer answers 429'],
    ['a header', (copy) => extend(copy).parameters.shift(), 'no longer reads Idempotency-Key'],
    [
      'what is optional',
      (copy) => copy.components.schemas.ExtendVideoRequest.required.push('prompt'),
      'body.prompt is now required',
    ],
    [
      'open access',
      (copy) => Object.assign(copy.paths['/bulk/nodes/versions'].post, { security: [{ accessToken: [] }] }),
      'now requires a token',
    ],
  ])('taking away %s is one', (_, change, sentence) => {
    const copy = structuredClone(committed);
    change(copy);

    expect(findBreakingChanges(committed, copy)).toContainEqual(expect.stringContaining(sentence));
  });

  test('an added field, optional header, request value or operation is not a breaking change', () => {
    const copy = structuredClone(committed);
    at(copy, body).mood = { type: 'string' };
    at(copy, reply).mood = { type: 'string' };
    at(copy, body).resolution.enum.push('4K');
    at(copy, body).duration.maximum = 9;
    extend(copy).parameters.push({ name: 'x-mood', in: 'header', schema: { type: 'string' } });
    copy.paths['/new'] = {};

    expect(findBreakingChanges(committed, copy)).toEqual([]);
  });

  test('are allowed in a new major version and in no minor version', () => {
    const version = (text: string) => ({ info: { version: text } });

    expect(mayBreak(version('1.4.0'), version('2.0.0'))).toBe(true);
    expect(mayBreak(version('1.4.0'), version('1.5.0'))).toBe(false);
  });
});

function at(root: Any, path: string): Any {
  return path.split('.').reduce((value, key) => value[key], root);
}

function extend(root: Any): Any {
  return root.paths['/proxy/video-provider/extend'].post;
}
