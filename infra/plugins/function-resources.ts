import type { Framework, Resource } from './framework.ts';
import { isSecretReader, secretStatements } from './secret-statement.ts';
import { valuesOf } from '../parameters/stage-parameters.ts';

/**
 * What every function gets, so that one more needs nothing but its entry in serverless.yml and its statements in
 * roles.yml: a role of its own, an alarm on faults of ours, and, for a route, an alarm on its latency.
 */
export default class FunctionResources {
  readonly hooks: Record<string, () => void>;

  constructor(framework: Framework) {
    this.hooks = { 'after:package:compileFunctions': () => addResources(framework) };
  }
}

interface Stage {
  /** How all names of the stage begin. */
  prefix: string;
  namespace: string;
  /** The topic that hears when an alarm begins and when it ends. */
  notified: string[] | undefined;
}

/** How a function is called in the template. */
export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function addResources(framework: Framework): void {
  const { service } = framework;
  const { tracing, metricsNamespace, alarmTopicArn } = valuesOf(framework);
  const stage: Stage = {
    prefix: `${service.service}-${framework.getProvider('aws').getStage()}`,
    namespace: String(metricsNamespace),
    notified: alarmTopicArn ? [alarmTopicArn] : undefined,
  };
  for (const name of service.getAllFunctions()) {
    const id = upperFirst(name);
    const routes = service.getFunction(name).events.flatMap(({ httpApi }) => httpApi ?? []);
    const statements = [
      logs(id),
      ...(tracing === 'Active' ? [traces] : []),
      ...statementsOf(framework, name),
    ];
    Object.assign(service.provider.compiledCloudFormationTemplate.Resources, {
      [`${id}Role`]: role(name, statements),
      [`${id}FaultsAlarm`]: faultsAlarm(stage, name),
      ...(routes.length > 0 && { [`${id}LatencyAlarm`]: latencyAlarm(stage, name, String(routes[0])) }),
    });
  }
}

function statementsOf({ service, classes }: Framework, name: string): unknown[] {
  const statements = service.custom.statements[name];
  if (!statements) throw new classes.Error(`infra/template/roles.yml has no statements of ${name}.`);
  return statements.flatMap((statement) =>
    isSecretReader(statement) ? secretStatements(statement) : [statement],
  );
}

function logs(id: string) {
  const actions = ['logs:CreateLogStream', 'logs:PutLogEvents'];
  return { Effect: 'Allow', Action: actions, Resource: { 'Fn::GetAtt': [`${id}LogGroup`, 'Arn'] } };
}

// X-Ray knows no resources.
const traces = {
  Effect: 'Allow',
  Action: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'],
  Resource: '*',
};

function role(name: string, statements: unknown[]): Resource {
  const trust = { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' };
  const document = { Version: '2012-10-17', Statement: statements };
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: { Version: '2012-10-17', Statement: [trust] },
      Policies: [{ PolicyName: name, PolicyDocument: document }],
    },
  };
}

/** A failing provider is not the function's fault, so only crashes and unknown faults count here. */
function faultsAlarm({ prefix, namespace, notified }: Stage, name: string): Resource {
  const metric = (id: string, metricNamespace: string, metricName: string, dimensions: object[]) => ({
    Id: id,
    ReturnData: false,
    MetricStat: {
      Stat: 'Sum',
      Period: 60,
      Metric: { Namespace: metricNamespace, MetricName: metricName, Dimensions: dimensions },
    },
  });
  return alarm(notified, {
    AlarmName: `${prefix}-faults-${name}`,
    AlarmDescription: 'The function crashed, ran out of time or met an unknown fault.',
    Threshold: 0,
    EvaluationPeriods: 1,
    Metrics: [
      { Id: 'faults', Expression: 'FILL(crashes, 0) + FILL(unknown, 0)' },
      metric('crashes', 'AWS/Lambda', 'Errors', [functionName(name)]),
      metric('unknown', namespace, 'requests', [
        { Name: 'function', Value: name },
        { Name: 'code', Value: 'internal_error' },
      ]),
    ],
  });
}

/**
 * A route is a function, so its latency is the function's, which AWS measures for nothing. It does not contain the
 * start of a cold one. A proxy waits for its provider up to 25 seconds.
 */
function latencyAlarm({ prefix, notified }: Stage, name: string, route: string): Resource {
  return alarm(notified, {
    AlarmName: `${prefix}-slow-${name}`,
    AlarmDescription: 'The p95 of this route was above its bound for 15 minutes.',
    Namespace: 'AWS/Lambda',
    MetricName: 'Duration',
    Dimensions: [functionName(name)],
    ExtendedStatistic: 'p95',
    EvaluateLowSampleCountPercentile: 'ignore',
    Period: 300,
    EvaluationPeriods: 3,
    Threshold: route.includes('/proxy/') ? 15_000 : 2000,
  });
}

function alarm(notified: Stage['notified'], properties: Record<string, unknown>): Resource {
  const standard = { TreatMissingData: 'notBreaching', ComparisonOperator: 'GreaterThanThreshold' };
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      ...standard,
      ...(notified && { AlarmActions: notified, OKActions: notified }),
      ...properties,
    },
  };
}

function functionName(name: string) {
  return { Name: 'FunctionName', Value: { Ref: `${upperFirst(name)}LambdaFunction` } };
}
