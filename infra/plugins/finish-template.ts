import { foldConditions } from './fold-conditions.ts';
import { conditionsOf } from '../template/conditions.ts';
import { loadOperations, type Operation, slashedRoute } from '../operations.ts';
import type { Values } from '../parameters/parameters.ts';
import { remember } from './deployed-template.ts';
import { givenTo, valuesOf } from '../parameters/stage-parameters.ts';
import type { Framework, Resource, Template } from './framework.ts';
import { referencesOf } from './references.ts';
import { secureStores } from './secure-stores.ts';
import { accountOrigins } from './upload-site.ts';

/** Removes disabled parts, and orders resources that the framework leaves to chance. */
export async function finishTemplate(framework: Framework): Promise<void> {
  const template = framework.service.provider.compiledCloudFormationTemplate;
  const operations = await loadOperations();
  const values = valuesOf(framework);
  addSlashedRoute(template);
  spreadConditions(template);
  foldConditions(template, conditionsOf(values));
  await closeAccount(template, values);
  secureStores(template);
  orderApi(template);
  throttleRoutes(template, operations, values);
  delaySchedules(template);
  remember(template, givenTo(framework));
}

/** The resources that the framework and function-resources.ts add for a function get its condition. */
function spreadConditions(template: Template): void {
  for (const [id, { Condition }] of ofType(template, 'AWS::Lambda::Function')) {
    if (Condition === undefined) continue;
    const name = id.replace('LambdaFunction', '');
    for (const [other, resource] of Object.entries(template.Resources))
      if (other.startsWith(name) || other === `HttpApiIntegration${name}`) resource.Condition = Condition;
  }
  for (const [, route] of ofType(template, 'AWS::ApiGatewayV2::Route')) {
    const [condition] = referencesOf(route).flatMap((name) => template.Resources[name]?.Condition ?? []);
    if (condition !== undefined) route.Condition = condition;
  }
}

function addSlashedRoute({ Resources }: Template): void {
  const [id, route] =
    Object.entries(Resources).find(([, { Properties }]) => Properties?.RouteKey === slashedRoute) ?? [];
  if (!route) return;
  const Properties = { ...route.Properties, RouteKey: `${slashedRoute}/` };
  Resources[`${id}WithSlash`] = { ...structuredClone(route), Properties };
}

function ofType(template: Template, type: string): [string, Resource][] {
  return Object.entries(template.Resources).filter(([, { Type }]) => Type === type);
}

/**
 * CloudFormation can't create a stage with settings for a route that doesn't exist yet. A route must not lead
 * to a function that the API may not invoke yet. And no function may give a provider a URL that doesn't exist yet.
 */
function orderApi(template: Template): void {
  const routes = ofType(template, 'AWS::ApiGatewayV2::Route').map(([id]) => id);
  for (const [, stage] of ofType(template, 'AWS::ApiGatewayV2::Stage')) wait(stage, ...routes);
  const notified = ofType(template, 'AWS::ApiGatewayV2::Route').filter(([, { Properties }]) =>
    String(Properties.RouteKey).includes(' /notifications/'),
  );
  for (const [, lambda] of ofType(template, 'AWS::Lambda::Function'))
    if (JSON.stringify(lambda.Properties.Environment ?? {}).includes('"NOTIFICATION_URL"'))
      wait(lambda, ...notified.map(([id]) => id));
  for (const [id, integration] of ofType(template, 'AWS::ApiGatewayV2::Integration')) {
    const name = id.replace('HttpApiIntegration', '');
    wait(integration, `${name}LambdaPermissionHttpApi`);
  }
}

/** The page for accounts may call the API and the issuer of this stage, and nothing else. */
async function closeAccount({ Resources }: Template, values: Values): Promise<void> {
  const { ResponseHeadersPolicyConfig } = Resources.AccountHeaders?.Properties ?? {};
  if (!ResponseHeadersPolicyConfig) return;
  // It loads a bundler.
  const { accountHeaders } = await import('@node-registry/site/account');
  const policy = accountHeaders(accountOrigins(values))['content-security-policy'];
  const { SecurityHeadersConfig } = ResponseHeadersPolicyConfig as { SecurityHeadersConfig: object };
  Object.assign(SecurityHeadersConfig, {
    ContentSecurityPolicy: { ContentSecurityPolicy: policy, Override: true },
  });
}

/** A provider sends a notification for each state of a task, and again after an error. */
const notificationsPerTask = 5;

/** Throttles single routes. Anyone may call the notifications route: a call without a task costs a read. */
function throttleRoutes(template: Template, operations: readonly Operation[], values: Values): void {
  const throttles = operations.flatMap(({ contract: { method, path }, throttle }) =>
    throttle === undefined ? [] : [[`${method} ${path}`, Number(values[throttle] ?? throttle)] as const],
  );
  const notified = ofType(template, 'AWS::ApiGatewayV2::Route')
    .map(([, { Properties }]) => String(Properties.RouteKey))
    .filter((route) => route.includes(' /notifications/'))
    .map((route) => [route, notificationsPerTask * Number(values.proxyRateLimit)] as const);
  // Bursts may reach twice the rate.
  const settings = (rate: number) => ({ ThrottlingRateLimit: rate, ThrottlingBurstLimit: 2 * rate });
  for (const [, { Properties }] of ofType(template, 'AWS::ApiGatewayV2::Stage'))
    Object.assign(Properties, {
      DefaultRouteSettings: { ...settings(Number(values.rateLimit)), DetailedMetricsEnabled: false },
      RouteSettings: Object.fromEntries(
        [...throttles, ...notified].map(([route, rate]) => [route, settings(rate)]),
      ),
    });
}

function wait(resource: Resource, ...names: string[]): void {
  resource.DependsOn = [...new Set([...[resource.DependsOn ?? []].flat(), ...names])];
}

/** The table is created last, after a slow distribution: an earlier schedule would fail until then. */
function delaySchedules(template: Template): void {
  for (const [, rule] of ofType(template, 'AWS::Events::Rule')) wait(rule, 'Table');
}
