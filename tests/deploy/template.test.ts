import { readdirSync } from 'node:fs';
import { CelEngine, TemplateFile } from '@aws/cloudformation-validate';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { concerns } from '../../lib/environment.ts';
import { loadContracts } from '../../tools/openapi/contracts.ts';
import { everything, type Packaged, type Part, packageFullStage, packagePlainStage } from './packaging.ts';
import { asText, holds, referencesOf } from './references.ts';

let plain: Packaged;
let full: Packaged;
const contracts = await loadContracts();

beforeAll(async () => {
  [plain, full] = await Promise.all([packagePlainStage(), packageFullStage()]);
}, 60_000);

function resource(id: string, { template }: Packaged = plain) {
  const found = template.Resources[id];
  if (!found) throw new Error(`There is no ${id}.`);
  return found;
}

function properties(id: string, stage: Packaged = plain): Part {
  return resource(id, stage).Properties;
}

function ofType(type: string, { template }: Packaged = plain): [string, Part][] {
  return Object.entries(template.Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([id, { Properties }]) => [id, Properties]);
}

function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const functionNames = readdirSync('functions').map((file) =>
  file.replace('.ts', '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
);
const proxies = contracts.filter(({ path }) => path.startsWith('/proxy/'));

describe('the template', () => {
  test.each([
    ['as little as can be given', () => plain],
    ['everything switched on', () => full],
  ])('with %s is valid to CloudFormation’s own schemas and rules', (_, stage) => {
    const engine = new CelEngine();
    const { status, diagnostics } = engine.validateStandard(new TemplateFile(stage().file));
    engine.free();

    expect(status).toBe('OK');
    expect(diagnostics.filter(({ severity }) => ['ERROR', 'FATAL'].includes(severity))).toEqual([]);
    expect(diagnostics.length).toBeGreaterThan(0);
  });

  test.each([
    ['as little as can be given', () => plain],
    ['everything switched on', () => full],
  ])('with %s refers to nothing that is not there', (_, stage) => {
    const { template } = stage();
    const known = [
      ...Object.keys(template.Resources),
      ...Object.keys(template.Conditions).map((name) => `condition:${name}`),
    ];

    expect(referencesOf(template).filter((name) => !known.includes(name))).toEqual([]);
    expect(referencesOf(template).length).toBeGreaterThan(50);
  });

  test('makes no resource wait for itself, over whatever detour', () => {
    const { Resources } = full.template;
    const done = new Set<string>();
    const visit = (id: string, path: string[]) => {
      if (path.includes(id)) throw new Error(`A circle: ${[...path, id].join(' -> ')}`);
      const found = Resources[id];
      if (done.has(id) || !found) return;
      const only = { Resources: { [id]: found }, Conditions: {}, Outputs: {} };
      for (const next of referencesOf(only)) visit(next, [...path, id]);
      done.add(id);
    };

    for (const id of Object.keys(Resources)) visit(id, []);
    expect(done.size).toBe(Object.keys(Resources).length);
  });

  test('has no secret in it, and nothing of the local stack', () => {
    const text = JSON.stringify(full.template);

    expect(text).not.toMatch(
      /localhost|S3RVER|local-image-key|local-video-key|AWS_ACCESS_KEY_ID|AWS_ENDPOINT/,
    );
  });
});

describe('the API', () => {
  test('has exactly the routes of the contracts, each to its own function, with its events of version 2.0', () => {
    const routes = ofType('AWS::ApiGatewayV2::Route').map(([, { RouteKey, Target }]) => {
      const integration = properties(Target['Fn::Join'][1][1].Ref);
      return [RouteKey, asText(integration.IntegrationUri), integration.PayloadFormatVersion];
    });

    expect(routes.sort()).toEqual(
      contracts
        .map(({ method, path, name }) => [
          `${method} ${path}`,
          `\${${upperFirst(name)}LambdaFunction.Arn}`,
          '2.0',
        ])
        .sort(),
    );
  });

  test.each(contracts.map(({ name }) => name))('may invoke %s, and nobody else may', (name) => {
    const permissions = ofType('AWS::Lambda::Permission').filter(([, { FunctionName }]) =>
      asText(FunctionName).includes(`${upperFirst(name)}LambdaFunction`),
    );

    expect(permissions).toEqual([
      [
        `${upperFirst(name)}LambdaPermissionHttpApi`,
        expect.objectContaining({ Principal: 'apigateway.amazonaws.com' }),
      ],
    ]);
    expect(JSON.stringify(permissions)).toContain('execute-api');
  });

  test('lets browsers of the configured origins call, and read what they need', () => {
    const { CorsConfiguration } = properties('HttpApi', full);

    expect(CorsConfiguration).toEqual({
      AllowOrigins: { 'Fn::Split': [',', 'https://a.example.com,https://b.example.com'] },
      AllowMethods: [...new Set(contracts.map(({ method }) => method))].sort(),
      AllowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match'],
      ExposeHeaders: ['ETag', 'x-request-id'],
      MaxAge: 86400,
    });
    expect(properties('HttpApi').CorsConfiguration.AllowOrigins).toEqual({ 'Fn::Split': [',', '*'] });
  });

  test('writes an access log line in JSON, with ids, latencies and what went wrong in an integration', () => {
    const { AccessLogSettings } = properties('HttpApiStage');
    const format = JSON.parse(AccessLogSettings.Format);

    expect(asText(AccessLogSettings.DestinationArn)).toBe(
      asText({ 'Fn::GetAtt': ['HttpApiLogGroup', 'Arn'] }),
    );
    expect(format).toMatchObject({
      request_id: '$context.requestId',
      route: '$context.routeKey',
      status: '$context.status',
      latency_ms: '$context.responseLatency',
      integration_latency_ms: '$context.integrationLatency',
      integration_error: '$context.integrationErrorMessage',
    });
    expect(AccessLogSettings.Format).not.toContain('\n');
  });

  test('throttles every route, the proxies more, and makes them before their settings', () => {
    const { DefaultRouteSettings: standard, RouteSettings } = properties('HttpApiStage');
    const routes = ofType('AWS::ApiGatewayV2::Route').filter(([, { RouteKey }]) => RouteKey in RouteSettings);

    expect(standard).toMatchObject({ ThrottlingRateLimit: 200, ThrottlingBurstLimit: 400 });
    expect(Object.keys(RouteSettings).sort()).toEqual(
      proxies.map(({ method, path }) => `${method} ${path}`).sort(),
    );
    for (const { ThrottlingRateLimit, ThrottlingBurstLimit } of Object.values<Part>(RouteSettings)) {
      expect(ThrottlingRateLimit).toBeLessThan(standard.ThrottlingRateLimit);
      expect(ThrottlingBurstLimit).toBeLessThan(standard.ThrottlingBurstLimit);
    }
    expect(resource('HttpApiStage').DependsOn).toEqual(expect.arrayContaining(routes.map(([id]) => id)));
  });

  test('has an address of its own only where one is given', () => {
    for (const id of ['ApiDomain', 'ApiDomainMapping', 'ApiDomainRecord']) {
      const condition = resource(id).Condition;
      expect([id, holds(plain.template, condition), holds(full.template, condition)]).toEqual([
        id,
        false,
        true,
      ]);
    }
    expect(properties('ApiDomain', full)).toMatchObject({
      DomainName: 'api.example.com',
      DomainNameConfigurations: [{ SecurityPolicy: 'TLS_1_2', EndpointType: 'REGIONAL' }],
    });
  });
});

describe('the table', () => {
  test.each([
    ['costs by request', { BillingMode: 'PAY_PER_REQUEST' }],
    [
      'can be taken back to any second',
      { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
    ],
    ['is encrypted', { SSESpecification: { SSEEnabled: true, SSEType: 'KMS' } }],
    ['forgets what has expired', { TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true } }],
    ['cannot be deleted by mistake', { DeletionProtectionEnabled: true }],
  ])('%s', (_, expected) => {
    expect(properties('Table')).toMatchObject(expected);
  });

  test('stays when the stage is removed or the table replaced', () => {
    expect(resource('Table')).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });
});

describe('the bucket', () => {
  const all = {
    BlockPublicAcls: true,
    BlockPublicPolicy: true,
    IgnorePublicAcls: true,
    RestrictPublicBuckets: true,
  };
  const encryption = [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }];

  test.each([
    ['is not public, and cannot become so', { PublicAccessBlockConfiguration: all }],
    ['is encrypted', { BucketEncryption: { ServerSideEncryptionConfiguration: encryption } }],
    ['keeps what is overwritten or deleted', { VersioningConfiguration: { Status: 'Enabled' } }],
    [
      'owns all that is put into it',
      { OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] } },
    ],
  ])('%s', (_, expected) => {
    expect(properties('S3BucketArchives')).toMatchObject(expected);
  });

  test('stays when the stage is removed or the bucket replaced', () => {
    expect(resource('S3BucketArchives')).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
    });
  });

  test('forgets abandoned uploads after two days, deleted archives after thirty, and archives never', () => {
    const rules: Part[] = properties('S3BucketArchives').LifecycleConfiguration.Rules;

    expect(rules).toEqual([
      expect.objectContaining({
        Prefix: 'staging/',
        ExpirationInDays: 2,
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
      }),
      expect.objectContaining({ Prefix: 'archives/', NoncurrentVersionExpiration: { NoncurrentDays: 30 } }),
    ]);
    expect(rules[1]).not.toHaveProperty('ExpirationInDays');
  });

  test('takes uploads from browsers of the configured origins', () => {
    expect(properties('S3BucketArchives', full).CorsConfiguration.CorsRules).toEqual([
      expect.objectContaining({
        AllowedMethods: ['PUT'],
        AllowedHeaders: ['Content-Type'],
        AllowedOrigins: { 'Fn::Split': [',', everything.corsOrigins] },
      }),
    ]);
  });

  test('refuses what comes without TLS, and whoever but the finaliser writes a published archive', () => {
    const [tls, publishing] = properties('ArchivesPolicy').PolicyDocument.Statement;

    expect(tls).toMatchObject({
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
    expect(tls.Resource).toHaveLength(2);
    expect(publishing).toMatchObject({ Effect: 'Deny', Principal: '*', Action: 's3:PutObject' });
    expect(asText(publishing.Resource)).toMatch(/\/archives\/\*$/);
    expect(publishing.Condition.ArnNotEquals['aws:PrincipalArn']).toEqual({
      'Fn::GetAtt': ['FinalizeUploadRole', 'Arn'],
    });
  });

  test('is read by the world only through the distribution, over TLS, and only what is published', () => {
    const [, , { 'Fn::If': grant }] = properties('ArchivesPolicy').PolicyDocument.Statement;
    const { DistributionConfig } = properties('Downloads');

    expect(grant[0]).toBe('ServesDownloads');
    expect(grant[1]).toMatchObject({ Effect: 'Allow', Action: 's3:GetObject' });
    expect(asText(grant[1].Resource)).toMatch(/\/archives\/\*$/);
    expect(JSON.stringify(grant[1].Condition)).toContain('Downloads');
    expect(DistributionConfig.DefaultCacheBehavior).toMatchObject({ ViewerProtocolPolicy: 'https-only' });
    expect([plain, full].map(({ template }) => holds(template, 'ServesDownloads'))).toEqual([true, false]);
  });
});

describe('the functions', () => {
  test.each(functionNames)(
    '%s runs the tested Node, on arm64, and gives up before its gateway does',
    (name) => {
      const { Runtime, Architectures, Timeout, MemorySize } = properties(`${upperFirst(name)}LambdaFunction`);

      expect([Runtime, Architectures]).toEqual(['nodejs24.x', ['arm64']]);
      expect(Timeout).toBeLessThanOrEqual(name === 'finalizeUpload' ? 300 : 29);
      expect(MemorySize).toBeGreaterThanOrEqual(512);
    },
  );

  test.each(functionNames)('%s keeps its logs for thirty days, and so does the API', (name) => {
    for (const id of [`${upperFirst(name)}LogGroup`, 'HttpApiLogGroup'])
      expect(properties(id).RetentionInDays).toBe(30);
  });

  test('know their provider’s key by name only, and ask for access tokens', () => {
    for (const [, { Environment }] of ofType('AWS::Lambda::Function')) {
      const { IMAGE_PROVIDER_KEY: image, VIDEO_PROVIDER_KEY: video, ...rest } = Environment.Variables;
      for (const key of [image, video].filter(Boolean)) expect(key).toMatch(/^ssm:\/node-registry\/prod\//);
      expect([rest.PUBLISH_ACCESS_TOKEN, rest.PROXY_ACCESS_TOKEN]).toEqual(['required', 'required']);
      expect(rest.METRICS_NAMESPACE).toBe('node-registry/prod');
    }
  });

  test('can be given every variable that they read, but those that Lambda sets and those of the local stack', () => {
    const read = Object.values(concerns).flatMap((concern) => Object.keys(concern().shape));
    const given = ofType('AWS::Lambda::Function').flatMap(([, it]) => Object.keys(it.Environment.Variables));

    expect(read.filter((name) => !name.startsWith('AWS_') && !given.includes(name))).toEqual([]);
  });

  test('are traced only where tracing is switched on', () => {
    const modes = (stage: Packaged) =>
      ofType('AWS::Lambda::Function', stage).map(([, it]) => it.TracingConfig.Mode);

    expect(new Set(modes(plain))).toEqual(new Set(['PassThrough']));
    expect(new Set(modes(full))).toEqual(new Set(['Active']));
  });
});

describe('the finaliser', () => {
  test('is invoked by what arrives under staging, and by nothing else in the bucket', () => {
    expect(properties('S3BucketArchives').NotificationConfiguration.LambdaConfigurations).toEqual([
      {
        Event: 's3:ObjectCreated:*',
        Filter: { S3Key: { Rules: [{ Name: 'prefix', Value: 'staging/' }] } },
        Function: { 'Fn::GetAtt': ['FinalizeUploadLambdaFunction', 'Arn'] },
      },
    ]);
    expect(properties('FinalizeUploadLambdaPermissionArchivesS3').SourceAccount).toEqual({
      Ref: 'AWS::AccountId',
    });
  });

  test('sweeps every hour', () => {
    expect(ofType('AWS::Events::Rule').map(([, rule]) => [rule.ScheduleExpression, rule.State])).toEqual([
      ['rate(1 hour)', 'ENABLED'],
    ]);
  });

  test('tries three times within six hours, and then leaves the work in a queue that keeps it for two weeks', () => {
    expect(properties('FinalizeUploadLambdaEvConf')).toMatchObject({
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 21600,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['FinalizeUploadFailures', 'Arn'] } } },
    });
    expect(properties('FinalizeUploadFailures')).toEqual({
      MessageRetentionPeriod: 1209600,
      SqsManagedSseEnabled: true,
    });
  });

  test('publishes under the distribution’s address, or under the one that is given', () => {
    const { DOWNLOAD_BASE_URL: address } = properties('FinalizeUploadLambdaFunction', full).Environment
      .Variables;

    expect(address['Fn::If'].slice(1).map(asText)).toEqual([
      expect.stringMatching(/^https:\/\/.*Downloads\.DomainName/),
      'https://cdn.example.com',
    ]);
  });
});
