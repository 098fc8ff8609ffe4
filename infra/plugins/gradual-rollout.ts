import type { Framework } from './framework.ts';
import { role } from './function-resources.ts';
import { valuesOf } from '../parameters/stage-parameters.ts';
import { upperFirst } from '../template/alarm-resources.ts';

const aliasName = 'live';

/**
 * Lets a new release take over step by step. Callers reach every function by an alias, and CodeDeploy moves
 * the alias from one version to the next; an alarm about our own faults moves it back. The framework has
 * versions, and lets events go to an alias, but creates no alias itself; CloudFormation does the rest.
 */
export default class GradualRollout {
  readonly hooks: Record<string, () => void>;

  constructor(framework: Framework) {
    this.hooks = {
      'before:package:compileFunctions': () => {
        if (isOn(framework)) pointEventsToAliases(framework);
      },
      'after:package:compileFunctions': () => {
        if (isOn(framework)) addResources(framework);
      },
    };
  }
}

function isOn(framework: Framework): boolean {
  return valuesOf(framework).rollout !== 'off';
}

function pointEventsToAliases({ service }: Framework): void {
  for (const name of service.getAllFunctions())
    service.getFunction(name).targetAlias = { name: aliasName, logicalId: `${upperFirst(name)}LiveAlias` };
}

function addResources(framework: Framework): void {
  const { service } = framework;
  const rollout = String(valuesOf(framework).rollout);
  const resources = service.provider.compiledCloudFormationTemplate.Resources;
  const prefix = `${service.service}-${framework.getProvider('aws').getStage()}`;
  Object.assign(resources, { RolloutApplication: application, RolloutRole: rolloutRole(prefix) });
  const alarms = rollbackAlarms(resources);
  for (const name of service.getAllFunctions()) {
    const id = upperFirst(name);
    const version = String(service.getFunction(name).versionLogicalId);
    Object.assign(resources, {
      [`${id}DeploymentGroup`]: deploymentGroup(alarms, rollout),
      [`${id}LiveAlias`]: alias(id, version),
    });
  }
}

const application = { Type: 'AWS::CodeDeploy::Application', Properties: { ComputePlatform: 'Lambda' } };

function rolloutRole(prefix: string) {
  const functions = `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:${prefix}-*`;
  return role('codedeploy', 'rollout', [
    {
      Effect: 'Allow',
      Action: ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig'],
      Resource: { 'Fn::Sub': functions },
    },
    // Alarms can only be described all or none.
    { Effect: 'Allow', Action: 'cloudwatch:DescribeAlarms', Resource: '*' },
  ]);
}

/** A failing provider isn't a release's fault, so only crashes, unknown faults and unread files roll one back. */
function rollbackAlarms(resources: Record<string, unknown>): string[] {
  return Object.keys(resources).filter((id) => /^(?:Faults\w+|InternalErrors|FailedReads)Alarm$/.test(id));
}

function deploymentGroup(alarms: readonly string[], rollout: string) {
  return {
    Type: 'AWS::CodeDeploy::DeploymentGroup',
    Properties: {
      ApplicationName: { Ref: 'RolloutApplication' },
      ServiceRoleArn: { 'Fn::GetAtt': ['RolloutRole', 'Arn'] },
      DeploymentConfigName: `CodeDeployDefault.${rollout}`,
      DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
      AlarmConfiguration: { Enabled: true, Alarms: alarms.map((id) => ({ Name: { Ref: id } })) },
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_STOP_ON_REQUEST'],
      },
    },
  };
}

function alias(id: string, version: string) {
  return {
    Type: 'AWS::Lambda::Alias',
    Properties: {
      Name: aliasName,
      FunctionName: { Ref: `${id}LambdaFunction` },
      FunctionVersion: { 'Fn::GetAtt': [version, 'Version'] },
    },
    UpdatePolicy: {
      CodeDeployLambdaAliasUpdate: {
        ApplicationName: { Ref: 'RolloutApplication' },
        DeploymentGroupName: { Ref: `${id}DeploymentGroup` },
      },
    },
  };
}
