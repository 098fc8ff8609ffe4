import type { ProviderName } from '../../lib/config.ts';
import type { Framework, Resource } from './framework.ts';
import { valuesOf } from '../parameters/stage-parameters.ts';
import { fileOf, loadOperations, type Operation } from '../operations.ts';
import { conditionsOf } from '../template/conditions.ts';
import { statementsOfAll } from '../template/roles.ts';
import { loadEnvironments, variablesOf } from '../template/environment.ts';
import { savedQueries } from '../template/queries.ts';
import { alarmResources, upperFirst } from '../template/alarm-resources.ts';
import { alarmsOf, type Stage } from '../template/alarms.ts';
import { laneQueues } from '../template/lane-queues.ts';

/*
 * Every function's handler, package, environment, role and reservation, every alarm and saved query of the stage,
 * and every lane's queue: a new operation needs only its entry in serverless.yml and its contract.
 */

/** The framework resolves its variables in these after this. */
export async function shareConfiguration(framework: Framework): Promise<void> {
  const environments = await loadEnvironments(framework.configurationInput.custom);
  for (const name of framework.service.getAllFunctions()) {
    const folder = `dist/${fileOf(name)}`;
    const shared = {
      handler: `${folder}/index.handler`,
      role: `${upperFirst(name)}Role`,
      package: { patterns: [`${folder}/*`, '!dist/*/*.map'] },
      environment: environments[name],
      // All functions share a log group, which infra/template/logs.yml has.
      disableLogs: true,
    };
    for (const [key, value] of Object.entries(shared))
      framework.extendConfiguration(['functions', name, key], value);
  }
}

export async function addResources(framework: Framework): Promise<void> {
  const { service, classes } = framework;
  const values = valuesOf(framework);
  const { alarmTopicArn, noticeTopicArn } = values;
  const operations = await loadOperations();
  const resources = service.provider.compiledCloudFormationTemplate.Resources;
  const place = { tableName: service.custom.tableName, values };
  const statementsOf = statementsOfAll(operations, variablesOf(operations), place);
  for (const name of service.getAllFunctions()) {
    const own = statementsOf[name];
    const lambda = resources[`${upperFirst(name)}LambdaFunction`];
    if (!own || !lambda) throw new classes.Error(`Nothing says what the role of ${name} allows.`);
    const statements = [...logs(String(lambda.Properties.FunctionName)), ...own];
    resources[`${upperFirst(name)}Role`] = roleOf(lambdaItself, name, statements);
    lambda.Properties.LoggingConfig = { LogGroup: { Ref: 'FunctionsLogGroup' } };
    const { reservation = reservations[name] } =
      operations.find(({ contract }) => contract.name === name) ?? {};
    const reserved = reservation && values[reservation];
    if (reserved) lambda.Properties.ReservedConcurrentExecutions = Number(reserved);
  }
  if (values.administrators) {
    const trusted = {
      Principal: { AWS: values.administrators.split(',') },
      Condition: { Bool: { 'aws:MultiFactorAuthPresent': 'true' } },
    };
    resources.AdministrationRole = roleOf(trusted, 'administration', statementsOf.administration ?? []);
  }
  const stage = stageOf(framework, operations);
  const prefix = `${service.service}-${framework.getProvider('aws').getStage()}`;
  const topics = { wake: alarmTopicArn, notice: noticeTopicArn || alarmTopicArn };
  const alarms = alarmResources(alarmsOf(stage), prefix, topics);
  Object.assign(resources, laneQueues(prefix), alarms, queries(stage.namespace));
}

const lambdaItself = { Principal: { Service: 'lambda.amazonaws.com' } };

/** Queries of the logs of the functions, and of the gateway. */
function queries(folder: string): Record<string, Resource> {
  const LogGroupNames = ['HttpApi', 'Functions'].map((group) => ({ Ref: `${group}LogGroup` }));
  const entries = Object.entries(savedQueries).map(([name, QueryString]) => {
    const id = name.split(' ').map(upperFirst).join('');
    const Properties = { Name: `${folder}/${name}`, QueryString, LogGroupNames };
    return [`${id}Query`, { Type: 'AWS::Logs::QueryDefinition', Properties }] as const;
  });
  return Object.fromEntries(entries);
}

/** The stage parameter that reserves concurrency for a function that isn't an operation. */
const reservations: Record<string, string> = { finalizeUpload: 'finalizeConcurrency' };

function stageOf(framework: Framework, operations: readonly Operation[]): Stage {
  const { service } = framework;
  const values = valuesOf(framework);
  const conditions: Record<string, boolean> = conditionsOf(values);
  const workers = service.getAllFunctions().filter((name) => {
    const { condition = '', events } = service.getFunction(name);
    return (conditions[condition] ?? true) && !events.some(({ httpApi }) => httpApi !== undefined);
  });
  const paidTo = (provider: ProviderName) =>
    operations.flatMap(({ contract: { name, price, notifies } }) =>
      price && notifies?.provider === provider ? [name] : [],
    );
  return {
    namespace: `${service.service}/${framework.getProvider('aws').getStage()}`,
    workers,
    paid: { image: paidTo('image'), video: paidTo('video') },
    values,
  };
}

/** Lambda names the streams of a shared group `<date>/<function>[<version>]<instance>`: a function writes its own only. */
function logs(functionName: string) {
  const group = { 'Fn::GetAtt': ['FunctionsLogGroup', 'Arn'] };
  const place = `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:\${FunctionsLogGroup}`;
  const own = { 'Fn::Sub': `${place}:log-stream:*/${functionName}[*` };
  return [
    { Effect: 'Allow', Action: 'logs:CreateLogStream', Resource: group },
    { Effect: 'Allow', Action: 'logs:PutLogEvents', Resource: own },
  ];
}

function roleOf(trusted: object, name: string, statements: unknown[]): Resource {
  const document = (Statement: unknown[]) => ({ Version: '2012-10-17', Statement });
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: document([{ Effect: 'Allow', ...trusted, Action: 'sts:AssumeRole' }]),
      Policies: [{ PolicyName: name, PolicyDocument: document(statements) }],
    },
  };
}
