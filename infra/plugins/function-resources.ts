import type { Framework, Resource } from './framework.ts';
import { isSecretReader, secretStatements } from './secret-statement.ts';
import { valuesOf } from '../parameters/stage-parameters.ts';
import { savedQueries } from '../template/queries.ts';
import { alarmProperties, alarmsOf, type Stage, upperFirst } from '../template/alarms.ts';

/**
 * Every function's own role, and every alarm and saved query of the stage: one more function needs nothing but its entry in
 * serverless.yml and its statements in roles.yml.
 */
export default class FunctionResources {
  readonly hooks: Record<string, () => void>;

  constructor(framework: Framework) {
    this.hooks = { 'after:package:compileFunctions': () => addResources(framework) };
  }
}

function addResources(framework: Framework): void {
  const { service } = framework;
  const { tracing, alarmTopicArn } = valuesOf(framework);
  const resources = service.provider.compiledCloudFormationTemplate.Resources;
  for (const name of service.getAllFunctions()) {
    const statements = [
      logs(upperFirst(name)),
      ...(tracing === 'Active' ? [traces] : []),
      ...statementsOf(framework, name),
    ];
    resources[`${upperFirst(name)}Role`] = role('lambda', name, statements);
  }
  const prefix = `${service.service}-${framework.getProvider('aws').getStage()}`;
  for (const alarm of alarmsOf(stageOf(framework)))
    resources[alarmId(alarm.name)] = {
      Type: 'AWS::CloudWatch::Alarm',
      Properties: alarmProperties(alarm, prefix, alarmTopicArn || undefined),
    };
  Object.assign(resources, queries(framework));
}

/** Over the logs of every function that is deployed, and of the gateway. */
function queries(framework: Framework): Record<string, Resource> {
  const { service } = framework;
  const groups = ['HttpApi', ...stageOf(framework).functions.map(({ name }) => upperFirst(name))];
  const folder = `${service.service}/${framework.getProvider('aws').getStage()}`;
  const entries = Object.entries(savedQueries).map(([name, QueryString]) => {
    const id = name.split(' ').map(upperFirst).join('');
    const LogGroupNames = groups.map((group) => ({ Ref: `${group}LogGroup` }));
    const Properties = { Name: `${folder}/${name}`, QueryString, LogGroupNames };
    return [`${id}Query`, { Type: 'AWS::Logs::QueryDefinition', Properties }] as const;
  });
  return Object.fromEntries(entries);
}

/** How an alarm is called in the template. */
export function alarmId(name: string): string {
  return `${name.split('-').map(upperFirst).join('')}Alarm`;
}

const reservable = {
  proxyConcurrency: /^(?:relightImage|textToVideo|extendVideo|multiframeVideo)$/,
  finalizeConcurrency: /^finalizeUpload$/,
};

function stageOf(framework: Framework): Stage {
  const { service } = framework;
  const values = valuesOf(framework);
  const relays = values.notifications === 'relay';
  const functions = service
    .getAllFunctions()
    .map((name) => ({ ...service.getFunction(name), name }))
    .filter(({ condition }) => condition === undefined || relays)
    .map(({ name, events, timeout }) => ({
      name,
      route: events.flatMap(({ httpApi }) => (httpApi === undefined ? [] : [routeOf(httpApi)]))[0],
      timeoutSeconds: timeout ?? service.provider.timeout,
      hasReservation: Object.entries(reservable).some(
        ([parameter, names]) => values[parameter] && names.test(name),
      ),
    }));
  return {
    namespace: `${service.service}/${framework.getProvider('aws').getStage()}`,
    functions,
    relays,
    bucketName: String(values.bucketName),
    creditsPerHour: Number(values.creditsPerHourAlarm),
  };
}

/** The framework has parsed `POST /path`, and `*`. */
function routeOf(httpApi: unknown): string {
  return typeof httpApi === 'string' ? httpApi : JSON.stringify(httpApi);
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

/** What a service of AWS may do for this stage. */
export function role(service: 'lambda' | 'codedeploy', name: string, statements: unknown[]): Resource {
  const Principal = { Service: `${service}.amazonaws.com` };
  const document = (Statement: unknown[]) => ({ Version: '2012-10-17', Statement });
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: document([{ Effect: 'Allow', Principal, Action: 'sts:AssumeRole' }]),
      Policies: [{ PolicyName: name, PolicyDocument: document(statements) }],
    },
  };
}
