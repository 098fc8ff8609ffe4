import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { variables } from '../../infra/parameters/variables.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { unzip } from '../../infra/plugins/packages.ts';
import { environments } from '../../infra/template/environment.ts';
import { savedQueries } from '../../infra/template/queries.ts';
import { loadContracts } from '../../tools/openapi/contracts.ts';
import { answerHeaders } from '../../tools/openapi/headers.ts';
import { asText } from './intrinsics.ts';
import { ofType, type Packaged, packagedStage, properties, resource, upperFirst } from './packaging.ts';

let plain: Packaged;
let full: Packaged;
const contracts = await loadContracts();

beforeAll(async () => {
  [plain, full] = await Promise.all([packagedStage('direct'), packagedStage('full')]);
});

/** The one route that is for providers, and for no client. */
const notifications = 'POST /notifications/{provider}/{ticket}';

const functionNames = readdirSync('functions').map((file) =>
  file.replace('.ts', '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
);

test('holds no secret in the template, and nothing of the local stack', () => {
  const text = JSON.stringify(full.template);

  expect(text).not.toMatch(
    /localhost|LOCALACCESSKEY|LOCALSECRETKEY|local-image-key|local-video-key|AWS_ACCESS_KEY_ID|AWS_ENDPOINT/,
  );
});

test('names that all regions of an account share have the region in them, so that a stage name works in each', () => {
  const named = (type: string, property: (properties: Part) => Part) =>
    ofType(full, type).map(([, it]) => asText(property(it)));
  const names = [
    ...named('AWS::CloudFront::ResponseHeadersPolicy', (it) => it.ResponseHeadersPolicyConfig.Name),
    ...named('AWS::CloudWatch::Dashboard', (it) => it.DashboardName),
    ...named('AWS::Budgets::Budget', (it) => it.Budget.BudgetName),
  ];

  expect(names).toEqual([
    `node-registry-prod-\${AWS::Region}-downloads`,
    `node-registry-prod-\${AWS::Region}-index`,
    `node-registry-prod-\${AWS::Region}-site`,
    `node-registry-prod-\${AWS::Region}`,
    `node-registry-prod-\${AWS::Region}`,
  ]);
  // Buckets are unique by themselves, and of all other types AWS keeps names by region, or the stage gives none.
  expect(ofType(full, 'AWS::CloudFront::OriginAccessControl')[0]?.[1].OriginAccessControlConfig.Name).toBe(
    parameterSets.full.bucketName,
  );
  for (const [, { RoleName, ManagedPolicyName }] of ofType(full, 'AWS::IAM::Role'))
    expect([RoleName, ManagedPolicyName]).toEqual([undefined, undefined]);
});

describe('the API', () => {
  test.each([
    ['direct', []],
    ['full', [[notifications, 'receiveNotification']]],
  ] as const)(
    'contains exactly the routes of the contracts, one for other paths and, if it relays, one for providers, in the %s stage',
    async (set, forProviders) => {
      const stage = await packagedStage(set);
      const routes = ofType(stage, 'AWS::ApiGatewayV2::Route').map(([, { RouteKey, Target }]) => {
        const integration = properties(stage, Target['Fn::Join'][1][1].Ref);
        const [, name] = /(\w+)LambdaFunction/.exec(JSON.stringify(integration.IntegrationUri)) ?? [];
        return [RouteKey, name, integration.PayloadFormatVersion];
      });

      expect(routes.sort()).toEqual(
        [
          ['$default', 'unknownRoute'] as const,
          ...forProviders,
          ...contracts.map(({ method, path, name }) => [`${method} ${path}`, name] as const),
        ]
          .map(([route, name]) => [route, upperFirst(name), '2.0'])
          .sort(),
      );
    },
  );

  test.each(contracts.map(({ name }) => name))('invokes %s alone', (name) => {
    const permissions = ofType(plain, 'AWS::Lambda::Permission').filter(([, { FunctionName }]) =>
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
    const { CorsConfiguration } = properties(full, 'HttpApi');
    const promised = Object.keys(answerHeaders).filter((name) => name !== 'WWW-Authenticate');

    expect(CorsConfiguration).toEqual({
      AllowOrigins: { 'Fn::Split': [',', parameterSets.full.corsOrigins] },
      AllowMethods: [...new Set(contracts.map(({ method }) => method))].sort(),
      AllowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'x-request-id'],
      ExposeHeaders: expect.arrayContaining(promised),
      MaxAge: 86400,
    });
    expect(properties(plain, 'HttpApi').CorsConfiguration.AllowOrigins).toEqual({ 'Fn::Split': [',', '*'] });
  });

  // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging-variables.html: these are ids, numbers,
  // times and names of AWS's. The messages of errors and integrations are texts, and a quote in one ends the JSON.
  test('writes an access log line that is JSON whatever was asked, with the ids that lead to the function', () => {
    const { AccessLogSettings } = properties(plain, 'HttpApiStage');
    const variables = [...AccessLogSettings.Format.matchAll(/"\$context\.([\w.]+)"/g)].map(
      ([, name]) => name,
    );

    expect(asText(AccessLogSettings.DestinationArn)).toBe(
      asText({ 'Fn::GetAtt': ['HttpApiLogGroup', 'Arn'] }),
    );
    expect(variables).toEqual([
      ...['requestId', 'requestTime', 'identity.sourceIp', 'routeKey', 'status', 'responseLength'],
      ...['responseLatency', 'integrationLatency', 'integrationStatus', 'integration.requestId'],
      'error.responseType',
    ]);
    expect(Object.keys(JSON.parse(AccessLogSettings.Format))).toHaveLength(variables.length);
    expect(AccessLogSettings.Format).not.toContain('\n');
  });

  /** Exactly the default of its own parameter: a swapped one would let a paid route take five times as much. */
  function rateOf(route: string): number {
    if (route.includes('/bulk/')) return 20;
    return route === notifications ? 50 : 10;
  }

  test('throttles every route, and bulk, publishing, the proxies and notifications by allowances of their own', () => {
    const own = contracts
      .filter(({ path }) => /^\/proxy\/|^\/bulk\/|\/versions$/.test(path))
      .map(({ method, path }) => `${method} ${path}`);

    for (const [stage, throttled] of [
      [plain, own],
      [full, [...own, notifications]],
    ] as const) {
      const { DefaultRouteSettings: standard, RouteSettings } = properties(stage, 'HttpApiStage');
      expect(standard).toEqual({
        ThrottlingRateLimit: 200,
        ThrottlingBurstLimit: 400,
        DetailedMetricsEnabled: false,
      });
      expect(Object.keys(RouteSettings).sort()).toEqual(throttled.toSorted());
      const rates = Object.entries<Part>(RouteSettings).map(([route, throttle]) => {
        expect(throttle.ThrottlingBurstLimit).toBe(2 * Number(throttle.ThrottlingRateLimit));
        return [route, Number(throttle.ThrottlingRateLimit)];
      });
      expect(Object.fromEntries(rates)).toEqual(
        Object.fromEntries(throttled.map((route) => [route, rateOf(route)])),
      );
    }
  });

  test('makes every route before the settings of the stage that name it', () => {
    const routes = ofType(plain, 'AWS::ApiGatewayV2::Route').map(([id]) => id);

    expect(resource(plain, 'HttpApiStage').DependsOn).toEqual(expect.arrayContaining(routes));
  });

  test('leads to a function, or to its alias, only after it may invoke it', () => {
    for (const stage of [plain, full])
      for (const [id] of ofType(stage, 'AWS::ApiGatewayV2::Integration')) {
        const name = id.replace('HttpApiIntegration', '');
        expect(resource(stage, id).DependsOn).toContain(`${name}LambdaPermissionHttpApi`);
      }
  });

  test('receives notifications before a function gives providers its address', () => {
    const routes = ofType(full, 'AWS::ApiGatewayV2::Route');
    const [route] = routes.find(([, { RouteKey }]) => RouteKey === notifications) ?? [];
    const senders = ofType(full, 'AWS::Lambda::Function').filter(
      ([, { Environment }]) => 'NOTIFICATION_URL' in Environment.Variables,
    );

    expect(senders).toHaveLength(4);
    for (const [id] of senders) expect(resource(full, id).DependsOn).toContain(route);
  });

  test('gets its own host name only if one is given', () => {
    const parts = ['ApiDomain', 'ApiDomainMapping', 'ApiDomainRecord'];

    expect(parts.map((id) => id in plain.template.Resources)).toEqual([false, false, false]);
    expect(parts.map((id) => id in full.template.Resources)).toEqual([true, true, true]);
    expect(properties(full, 'ApiDomain')).toMatchObject({
      DomainName: 'api.example.com',
      DomainNameConfigurations: [{ SecurityPolicy: 'TLS_1_2', EndpointType: 'REGIONAL' }],
    });
  });

  test('closes its generated address when it has one of its own', () => {
    expect(properties(plain, 'HttpApi')).not.toHaveProperty('DisableExecuteApiEndpoint');
    expect(properties(full, 'HttpApi')).toMatchObject({ DisableExecuteApiEndpoint: true });
  });
});

test('saves queries over the logs of every function and of the gateway', () => {
  const queries = ofType(full, 'AWS::Logs::QueryDefinition').map(([, it]) => it);
  const groups = ['HttpApi', ...functionNames.map(upperFirst)].map((name) => `\${${name}LogGroup}`);

  expect(queries.map(({ Name }) => Name)).toEqual(
    Object.keys(savedQueries).map((name) => `node-registry/prod/${name}`),
  );
  for (const { LogGroupNames } of queries)
    expect(LogGroupNames.map(asText).sort()).toEqual(groups.toSorted());
});

describe('the functions', () => {
  test.each(functionNames)(
    '%s runs the tested Node, on arm64, and gives up before its gateway does',
    (name) => {
      const { Runtime, Architectures, Timeout, MemorySize } = properties(
        full,
        `${upperFirst(name)}LambdaFunction`,
      );

      expect([Runtime, Architectures]).toEqual(['nodejs24.x', ['arm64']]);
      const own = {
        finalizeUpload: 300,
        extractHostNodes: 120,
        deliverNotifications: 30,
        sweepSpending: 60,
        writeIndex: 60,
      };
      expect(Timeout).toBe(own[name as keyof typeof own] ?? 29);
      const isSmall = /^(?:receiveNotification|deliverNotifications|unknownRoute|finalizeUpload)$/.test(name);
      const memory = name === 'sweepSpending' ? 1792 : 1024;
      expect(MemorySize).toBe(isSmall ? 512 : memory);
    },
  );

  test.each(functionNames)('%s keeps its logs for thirty days, and so does the API', (name) => {
    for (const id of [`${upperFirst(name)}LogGroup`, 'HttpApiLogGroup'])
      expect(properties(full, id).RetentionInDays).toBe(30);
  });

  test('know their provider’s key by name only, and ask for access tokens', () => {
    for (const [, { Environment }] of ofType(plain, 'AWS::Lambda::Function')) {
      const { IMAGE_PROVIDER_KEY: image, VIDEO_PROVIDER_KEY: video, ...rest } = Environment.Variables;
      for (const key of [image, video].filter(Boolean)) expect(key).toMatch(/^ssm:\/node-registry\/prod\//);
      // Empty or absent, both have the default, which is `required`.
      expect([rest.PUBLISH_ACCESS_TOKEN || '', rest.PROXY_ACCESS_TOKEN || '']).toEqual(['', '']);
      expect(rest.METRICS_NAMESPACE).toBe('node-registry/prod');
    }
  });

  test.each(functionNames)('gives %s no variable that its bundle does not read', async (name) => {
    const files = await unzip(full.zips.get(name) ?? Buffer.alloc(0));
    const bundle = [...files.values()].map(String).join('\n');
    const given = Object.keys(environments[name] ?? {});

    expect(given.filter((variable) => !new RegExp(`\\b${variable}:`).test(bundle))).toEqual([]);
  });

  test('gives the functions every variable that a parameter sets', () => {
    const read = Object.entries(variables).flatMap(([name, { parameter }]) => (parameter ? [name] : []));
    const given = Object.values(environments).flatMap(Object.keys);

    expect(read.filter((name) => !given.includes(name))).toEqual([]);
  });

  test('reserve concurrency for proxies and uploads only if asked to', () => {
    const reserved = (stage: Packaged) =>
      ofType(stage, 'AWS::Lambda::Function').flatMap(([id, it]) =>
        it.ReservedConcurrentExecutions === undefined ? [] : [[id, Number(it.ReservedConcurrentExecutions)]],
      );

    expect(reserved(plain)).toEqual([]);
    expect(Object.fromEntries(reserved(full))).toEqual({
      FinalizeUploadLambdaFunction: 5,
      RelightImageLambdaFunction: 10,
      TextToVideoLambdaFunction: 10,
      ExtendVideoLambdaFunction: 10,
      MultiframeVideoLambdaFunction: 10,
    });
  });

  test('receive and deliver notifications only where the stage relays them: otherwise nothing of it is deployed', () => {
    const parts =
      /ReceiveNotification|DeliverNotifications|Notification\w+Alarm|Notifications(?:Failures|Policy)|NotificationSigningKey|TICKET#|notify-|NOTIFICATION_|\/notifications/g;
    const found = (stage: Packaged) => new Set(JSON.stringify(stage.template).match(parts));

    expect(found(plain)).toEqual(new Set());
    expect(found(full).size).toBe(13);
  });

  test('deliver what the queue has, in batches that fail in part, and hand over each minute what is due', () => {
    const mappings = ofType(full, 'AWS::Lambda::EventSourceMapping').map(([, it]) => it);
    const [stream, mapping] = mappings;
    const { ScheduleExpression, State } = properties(full, 'DeliverNotificationsEventsRuleSchedule1');

    expect(mappings).toHaveLength(3);
    expect(stream).toMatchObject({
      EventSourceArn: { 'Fn::GetAtt': ['Table', 'StreamArn'] },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      MaximumRetryAttempts: 10,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['WriteIndexFailures', 'Arn'] } } },
    });
    expect(mapping).toMatchObject({
      EventSourceArn: { 'Fn::GetAtt': ['Notifications', 'Arn'] },
      Enabled: true,
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 20 },
    });
    expect([ScheduleExpression, State]).toEqual(['rate(1 minute)', 'ENABLED']);
  });

  test('hold no provider key and reach no receiver on localhost if they call receivers', () => {
    const { Variables } = properties(full, 'DeliverNotificationsLambdaFunction').Environment;

    expect(Object.keys(Variables).filter((name) => /PROVIDER/.test(name))).toEqual([]);
    expect(Variables).toMatchObject({
      NOTIFICATION_SIGNING_KEY: { 'Fn::Sub': `secretsmanager:\${NotificationSigningKey}` },
    });
  });

  // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html: at least six times the function's timeout.
  test('end long before the messages of their queue are shown again, and give up after five receives', () => {
    // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html: at least six times the function's timeout.
    const { VisibilityTimeout, RedrivePolicy } = properties(full, 'Notifications');

    expect(VisibilityTimeout).toBe(6 * properties(full, 'DeliverNotificationsLambdaFunction').Timeout);
    expect(RedrivePolicy).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': ['NotificationsFailures', 'Arn'] },
      maxReceiveCount: 5,
    });
  });

  test('wait for the table, which comes last, before a schedule calls them', () => {
    const rules = Object.values(full.template.Resources).filter(({ Type }) => Type === 'AWS::Events::Rule');

    expect(rules).toHaveLength(7);
    for (const { DependsOn } of rules) expect([DependsOn].flat()).toContain('Table');
  });

  test('sign with a key that the stage makes itself, 64 letters and digits, and keeps', () => {
    const { Type, Properties, DeletionPolicy } = resource(full, 'NotificationSigningKey');

    expect([Type, DeletionPolicy]).toEqual(['AWS::SecretsManager::Secret', 'RetainExceptOnCreate']);
    expect(Properties.GenerateSecretString).toEqual({ PasswordLength: 64, ExcludePunctuation: true });
  });

  test('send traces only if tracing is switched on', () => {
    const modes = (stage: Packaged) =>
      ofType(stage, 'AWS::Lambda::Function').map(([, it]) => it.TracingConfig.Mode);

    expect(new Set(modes(plain))).toEqual(new Set(['PassThrough']));
    expect(new Set(modes(full))).toEqual(new Set(['Active']));
  });
});
