import { foldConditions } from './fold-conditions.ts';
import { upperFirst } from '../template/alarm-resources.ts';
import { conditionsOf } from '../template/conditions.ts';
import { loadOperations, type Operation } from '../operations.ts';
import type { Values } from '../parameters/parameters.ts';
import { valuesOf } from '../parameters/stage-parameters.ts';
import type { Framework, Resource, Template } from './framework.ts';
import { referencesOf } from './references.ts';
import { secureStores } from './secure-stores.ts';

/**
 * Finishes the template: leaves out what is switched off, orders what the framework leaves to chance, and lets a failed
 * deployment take back what the framework would keep.
 */
export default class FinishTemplate {
  readonly hooks: Record<string, () => Promise<void>>;

  constructor(framework: Framework) {
    this.hooks = {
      'after:aws:package:finalize:mergeCustomProviderResources': async () => {
        const template = framework.service.provider.compiledCloudFormationTemplate;
        const operations = await loadOperations();
        const values = valuesOf(framework);
        showDurations(template, operations);
        spreadConditions(template);
        foldConditions(template, conditionsOf(values));
        secureStores(template);
        orderApi(template);
        throttleRoutes(template, operations, values);
        giveVersionsBack(template);
        catchUndeliveredSchedules(template);
        delaySchedules(template);
      },
    };
  }
}

/** What the framework and function-resources.ts make for a function is there only where the function is. */
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

function ofType(template: Template, type: string): [string, Resource][] {
  return Object.entries(template.Resources).filter(([, { Type }]) => Type === type);
}

/**
 * A stage with settings for a route that does not exist yet cannot be made. A route must not lead to a function, or to
 * the alias of one when a rollout is switched on or off, that the API may not invoke yet. And no function may give a
 * provider an address that does not exist yet.
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

/** A provider notifies of each state of a task, and again after an error. */
const notificationsPerTask = 5;

/** Each route with a throttle of its own. The route of notifications is open to the world: a call without a ticket costs a read. */
function throttleRoutes(template: Template, operations: readonly Operation[], values: Values): void {
  const throttles = operations.flatMap(({ contract: { method, path }, throttle }) =>
    throttle === undefined ? [] : [[`${method} ${path}`, Number(values[throttle] ?? throttle)] as const],
  );
  const notified = ofType(template, 'AWS::ApiGatewayV2::Route')
    .map(([, { Properties }]) => String(Properties.RouteKey))
    .filter((route) => route.includes(' /notifications/'))
    .map((route) => [route, notificationsPerTask * Number(values.proxyRateLimit)] as const);
  // Twice the rate may come at once.
  const settings = (rate: number) => ({ ThrottlingRateLimit: rate, ThrottlingBurstLimit: 2 * rate });
  for (const [, { Properties }] of ofType(template, 'AWS::ApiGatewayV2::Stage'))
    Object.assign(Properties, {
      DefaultRouteSettings: { ...settings(Number(values.rateLimit)), DetailedMetricsEnabled: false },
      RouteSettings: Object.fromEntries(
        [...throttles, ...notified].map(([route, rate]) => [route, settings(rate)]),
      ),
    });
}

/** A line of the dashboard for each function that callers or publishers wait for. */
function showDurations(template: Template, operations: readonly Operation[]): void {
  const names = [...operations.map(({ contract }) => contract.name), 'finalizeUpload', 'extractHostNodes'];
  const lines = names.map(
    (name) => `["AWS/Lambda", "Duration", "FunctionName", "\${${upperFirst(name)}LambdaFunction}"]`,
  );
  for (const [, { Properties }] of ofType(template, 'AWS::CloudWatch::Dashboard')) {
    const { 'Fn::Sub': parts } = Properties.DashboardBody as { 'Fn::Sub': [string, object] };
    Object.assign(parts[1], { Durations: { 'Fn::Sub': lines.join(',\n') } });
  }
}

function wait(resource: Resource, ...names: string[]): void {
  resource.DependsOn = [...new Set([...[resource.DependsOn ?? []].flat(), ...names])];
}

/** A version that a failed update left behind would stop the next one: "a version for this function exists". */
function giveVersionsBack(template: Template): void {
  for (const [, version] of ofType(template, 'AWS::Lambda::Version'))
    Object.assign(version, { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
}

/**
 * A function's own failures reach its queue by its destination; this is for events that never reached it. What runs each
 * minute has no queue: the next run does what the lost one should have.
 */
function catchUndeliveredSchedules(template: Template): void {
  for (const [id, { Properties }] of ofType(template, 'AWS::Events::Rule')) {
    const queue = id.replace(/EventsRuleSchedule\d+$/, 'Failures');
    if (!(queue in template.Resources)) continue;
    for (const target of Properties.Targets as object[])
      Object.assign(target, { DeadLetterConfig: { Arn: { 'Fn::GetAtt': [queue, 'Arn'] } } });
  }
}

/** The table comes last, after a distribution that takes minutes: a schedule that begins before it would fail until then. */
function delaySchedules(template: Template): void {
  for (const [, rule] of ofType(template, 'AWS::Events::Rule')) wait(rule, 'Table');
}
