import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { variables } from '../../infra/parameters/parameters.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { upperFirst } from '../../infra/template/alarm-resources.ts';
import * as config from '../../lib/config.ts';
import { loadContracts } from '../../infra/operations.ts';
import { reviewed, reviewedFile } from '../../tools/documents/template.ts';
import { answerHeaders } from '../../tools/openapi/headers.ts';
import { unzip } from '@node-registry/testing/unzip';
import { asText } from './intrinsics.ts';
import { functionNames, ofType, type Packaged, packagedStage, properties } from './packaging.ts';

let plain: Packaged;
let full: Packaged;
const contracts = await loadContracts();

beforeAll(async () => {
  [plain, full] = await Promise.all([packagedStage('direct'), packagedStage('full')]);
});

test('is the reviewed tests/infra/template.json by default, which npm run template writes', async () => {
  const { file, template } = await packagedStage('default');

  // A stage is deployed in minutes, and CloudFormation takes 500.
  expect(Object.keys(template.Resources).length).toBeLessThanOrEqual(180);
  expect(reviewed(readFileSync(file, 'utf8'))).toBe(readFileSync(reviewedFile, 'utf8'));
});

test('has a dashboard that is JSON where the stage asks for one', () => {
  expect(JSON.parse(asText(properties(full, 'Dashboard').DashboardBody)).widgets).toHaveLength(15);
});

test('contains nothing of notifications where providers send them', () => {
  expect(JSON.stringify(plain.template)).not.toMatch(
    /NOTIFICATION_|\/notifications|notify-|pollProviders|unknown-states/i,
  );
});

describe('the API', () => {
  test('has the routes and methods of self-service where it is on', () => {
    const routes = ofType(full, 'AWS::ApiGatewayV2::Route').map(([, { RouteKey }]) => RouteKey);

    expect(routes).toContain('GET /users/publishers/');
    expect(properties(full, 'HttpApi').CorsConfiguration.AllowMethods).toEqual([
      ...['GET', 'POST', 'PUT', 'DELETE'],
    ]);
  });

  test('lets browsers read every header that is promised', () => {
    const { ExposeHeaders } = properties(full, 'HttpApi').CorsConfiguration;
    const promised = Object.keys(answerHeaders).filter((name) => name !== 'WWW-Authenticate');

    expect(ExposeHeaders).toEqual(expect.arrayContaining(promised));
  });

  test('lets the page for accounts call, and says where it is', () => {
    const { AllowOrigins } = properties(full, 'HttpApi').CorsConfiguration;
    const { ACCOUNT_URL } = properties(full, 'SelfServiceLambdaFunction').Environment.Variables;

    expect(AllowOrigins).toEqual({
      'Fn::Split': [',', `${parameterSets.full.corsOrigins},https://account.example.com`],
    });
    expect(ACCOUNT_URL).toBe('https://account.example.com/account/');
  });

  test('closes its generated address if it is told so', () => {
    expect(properties(full, 'HttpApi').DisableExecuteApiEndpoint).toBe(true);
  });
});

describe('the functions', () => {
  test('get another variable, and with it new instances, for a restart', async () => {
    const { template } = await packagedStage('minimal');
    const lambdas = Object.values(template.Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');

    for (const { Properties } of lambdas)
      expect(Properties.Environment.Variables.RESTART).toBe(parameterSets.minimal.restart);
    expect(lambdas.length).toBeGreaterThan(15);
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
    const isEndpoint = contract !== undefined || name === 'selfService';
    const brought = isEndpoint && contract?.notifies?.provider !== 'video' ? unused : [];
    expect(read.filter((variable) => !given.includes(variable) && !variable.startsWith('AWS_'))).toEqual(
      Object.keys(variables).filter((variable) =>
        brought.some((concern) => variable in concern.variables() && !given.includes(variable)),
      ),
    );
  });
});
