import { beforeAll, describe, expect, test } from '@jest/globals';
import { variables } from '../../infra/parameters/parameters.ts';
import { upperFirst } from '../../infra/template/alarm-resources.ts';
import { savedQueries } from '../../infra/template/queries.ts';
import * as config from '../../lib/config.ts';
import { loadContracts } from '../../infra/operations.ts';
import { answerHeaders } from '../../tools/openapi/headers.ts';
import { unzip } from '@node-registry/testing/unzip';
import { asText } from './intrinsics.ts';
import { functionNames, ofType, type Packaged, packagedStage, properties, resource } from './packaging.ts';

let plain: Packaged;
let full: Packaged;
const contracts = await loadContracts();

beforeAll(async () => {
  [plain, full] = await Promise.all([packagedStage('direct'), packagedStage('full')]);
});

/** The one route that is for providers, and for no client. */
const notifications = 'POST /notifications/{provider}/{task}';

test('holds no secret in the template, and nothing of the local stack', () => {
  const text = JSON.stringify(full.template);

  expect(text).not.toMatch(
    /localhost|LOCALACCESSKEY|LOCALSECRETKEY|local-image-key|local-video-key|AWS_ACCESS_KEY_ID|AWS_ENDPOINT/,
  );
});

test('contains nothing that is switched off', () => {
  const kinds = /^AWS::(?:CloudFront|DynamoDB|Route53|S3|SecretsManager|SQS)::|ApiGatewayV2::DomainName$/;
  const isListed = ([id, { Type }]: [string, { Type: string }]) =>
    kinds.test(Type) && !(id in plain.template.Resources);
  const added = Object.entries(full.template.Resources).flatMap((entry) => (isListed(entry) ? entry[0] : []));

  expect(added.sort()).toEqual([
    ...['ApiDomain', 'ApiDomainRecord', 'NotificationSigningKey', 'Notifications', 'NotificationsFailures'],
    ...['NotificationsFailuresPolicy', 'NotificationsPolicy', 'PageAddresses', 'Site', 'SiteHeaders'],
  ]);
  expect(Object.keys(plain.template.Outputs)).not.toContain('SiteUrl');
  expect(JSON.stringify(plain.template)).not.toMatch(/NOTIFICATION_|\/notifications|notify-/);
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

      const own = contracts.map(({ method, path, name }) => [`${method} ${path}`, name] as const);
      const all = [['$default', 'unknownRoute'] as const, ...forProviders, ...own];
      expect(routes.sort()).toEqual(all.map(([route, name]) => [route, upperFirst(name), '2.0']).sort());
    },
  );

  test.each(contracts.map(({ name }) => name))('invokes %s alone', (name) => {
    const permissions = ofType(plain, 'AWS::Lambda::Permission').filter(([, { FunctionName }]) =>
      asText(FunctionName).includes(`${upperFirst(name)}LambdaFunction`),
    );

    const Principal = 'apigateway.amazonaws.com';
    expect(permissions).toMatchObject([[`${upperFirst(name)}LambdaPermissionHttpApi`, { Principal }]]);
    expect(JSON.stringify(permissions)).toContain('execute-api');
  });

  test('lets browsers of any origin call by default, and read every header that is promised', () => {
    const { AllowOrigins, ExposeHeaders } = properties(plain, 'HttpApi').CorsConfiguration;
    const promised = Object.keys(answerHeaders).filter((name) => name !== 'WWW-Authenticate');

    expect(AllowOrigins).toEqual({ 'Fn::Split': [',', '*'] });
    expect(ExposeHeaders).toEqual(expect.arrayContaining(promised));
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

    expect(senders).toHaveLength(contracts.filter(({ price }) => price).length);
    for (const [id] of senders) expect(resource(full, id).DependsOn).toContain(route);
  });

  test('keeps its generated address until it is told otherwise', () => {
    expect(properties(plain, 'HttpApi')).not.toHaveProperty('DisableExecuteApiEndpoint');
    expect(properties(full, 'HttpApi').DisableExecuteApiEndpoint).toBe(true);
  });
});

test('saves queries over the logs of every function and of the gateway', () => {
  const queries = ofType(full, 'AWS::Logs::QueryDefinition').map(([, it]) => it);
  const groups = ['HttpApi', ...functionNames.map(upperFirst)].map((name) => `\${${name}LogGroup}`);

  expect(queries.map(({ Name, QueryString }) => [Name, QueryString])).toEqual(
    Object.entries(savedQueries).map(([name, query]) => [`node-registry/prod/${name}`, query]),
  );
  for (const { LogGroupNames } of queries)
    expect(LogGroupNames.map(asText).sort()).toEqual(groups.toSorted());
});

describe('the functions', () => {
  test.each(functionNames)(
    '%s runs the tested Node with its own role, and keeps its logs for thirty days',
    (name) => {
      const id = upperFirst(name);

      expect(properties(full, `${id}LambdaFunction`)).toMatchObject({
        FunctionName: `node-registry-prod-${name}`,
        Handler: `dist/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}/index.handler`,
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Role: { 'Fn::GetAtt': [`${id}Role`, 'Arn'] },
      });
      for (const [group, LogGroupName] of [
        [id, `/aws/lambda/node-registry-prod-${name}`],
        ['HttpApi', '/aws/http-api/node-registry-prod'],
      ])
        expect(properties(full, `${group}LogGroup`)).toEqual({ LogGroupName, RetentionInDays: 30 });
    },
  );

  test('know their provider’s key by name only, and ask for access tokens', () => {
    for (const [, { Environment }] of ofType(plain, 'AWS::Lambda::Function')) {
      const { IMAGE_PROVIDER_KEY: image, VIDEO_PROVIDER_KEY: video, ...rest } = Environment.Variables;
      for (const key of [image, video].filter(Boolean)) expect(key).toMatch(/^ssm:\/node-registry\/prod\//);
      // Empty or absent, both have the default, which is `required`.
      expect([rest.PUBLISH_ACCESS_TOKEN || '', rest.PROXY_ACCESS_TOKEN || '']).toEqual(['', '']);
      expect(rest.METRICS_NAMESPACE).toBe('node-registry/prod');
      expect(rest.RELEASE).toBe(plain.template.Outputs.Release.Value);
    }
  });

  test.each(functionNames)('gives %s exactly the variables that its bundle reads', async (name) => {
    const files = await unzip(full.zips.get(name) ?? Buffer.alloc(0));
    const bundle = [...files.values()].map(String).join('\n');
    // A stage has its default.
    const isConstant = (variable: string) => /^MAX_PENDING_V|^POLLS_PER_/.test(variable);
    const settable = Object.keys(variables).filter((variable) => !isConstant(variable));
    const read = settable.filter((variable) => new RegExp(`\\b${variable}:`).test(bundle));
    const { Environment } = properties(full, `${upperFirst(name)}LambdaFunction`);
    const given = Object.keys(Environment.Variables).filter((variable) => variable !== 'RESTART');

    expect(given.filter((variable) => !read.includes(variable))).toEqual([]);
    // Lambda sets those of AWS. An endpoint brings the schemas of all, and bulk the check of tokens that it never calls.
    const contract = contracts.find((each) => each.name === name);
    const unused = [config.videoRules, ...(name === 'bulkNodeVersions' ? [config.tokens] : [])];
    const brought = contract && contract.notifies?.provider !== 'video' ? unused : [];
    expect(read.filter((variable) => !given.includes(variable) && !variable.startsWith('AWS_'))).toEqual(
      Object.keys(variables).filter((variable) =>
        brought.some((concern) => variable in concern.variables() && !given.includes(variable)),
      ),
    );
  });

  test('wait for the table, which comes last, before a schedule may call them', () => {
    const rules = ofType(full, 'AWS::Events::Rule');

    expect(rules).toHaveLength(11);
    for (const [id, { Targets }] of rules) {
      expect(resource(full, id).DependsOn).toContain('Table');
      expect(properties(full, id.replace('EventsRule', 'LambdaPermissionEventsRule'))).toEqual({
        FunctionName: Targets[0].Arn,
        Action: 'lambda:InvokeFunction',
        Principal: 'events.amazonaws.com',
        SourceArn: { 'Fn::GetAtt': [id, 'Arn'] },
      });
    }
  });

  test('reserve no concurrency by default', () => {
    for (const [, it] of ofType(plain, 'AWS::Lambda::Function'))
      expect(it).not.toHaveProperty('ReservedConcurrentExecutions');
  });
});
