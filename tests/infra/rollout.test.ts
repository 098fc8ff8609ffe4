import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Part } from '../../infra/plugins/references.ts';
import { ofType, type Packaged, packagedStage, properties, resource } from './packaging.ts';

let full: Packaged;
let restarted: Packaged;

beforeAll(async () => {
  [full, restarted] = await Promise.all([packagedStage('full'), packagedStage('restarted')]);
});

function versionsOf(stage: Packaged): string[] {
  return ofType(stage, 'AWS::Lambda::Version').map(([id]) => id);
}

describe('a gradual rollout', () => {
  test('moves an alias of each function from the last version to this one, and back on the alarms', () => {
    const aliases = ofType(full, 'AWS::Lambda::Alias');

    expect(aliases).toHaveLength(versionsOf(full).length);
    for (const [id, alias] of aliases) {
      const update = resource(full, id).UpdatePolicy.CodeDeployLambdaAliasUpdate;
      const group = properties(full, update.DeploymentGroupName.Ref);
      const nameOf = ({ Name }: Part) => properties(full, Name.Ref).AlarmName;
      const alarms = group.AlarmConfiguration.Alarms.map(nameOf);
      const version = properties(full, alias.FunctionVersion['Fn::GetAtt'][0]);

      expect(id).toBe(`${alias.FunctionName.Ref.replace('LambdaFunction', '')}LiveAlias`);
      expect(version.FunctionName).toEqual(alias.FunctionName);
      expect(update.ApplicationName).toEqual({ Ref: 'RolloutApplication' });
      const Events = ['FAILURE', 'STOP_ON_ALARM', 'STOP_ON_REQUEST'].map((word) => `DEPLOYMENT_${word}`);
      expect(group).toEqual({
        ApplicationName: { Ref: 'RolloutApplication' },
        ServiceRoleArn: { 'Fn::GetAtt': ['RolloutRole', 'Arn'] },
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
        AlarmConfiguration: { Enabled: true, Alarms: expect.any(Array) },
        AutoRollbackConfiguration: { Enabled: true, Events },
      });
      expect(alarms).toEqual(
        ['faults-proxies', 'faults-requests', 'faults-work', 'internal-errors', 'failed-reads'].map(
          (each) => `node-registry-prod-${each}`,
        ),
      );
    }
  });

  test('reaches every caller: the API, the schedules, the stream and the queues', () => {
    const targets = [
      ...ofType(full, 'AWS::ApiGatewayV2::Integration').map(([, it]) => it.IntegrationUri),
      ...ofType(full, 'AWS::Lambda::Permission').map(([, it]) => it.FunctionName),
      ...ofType(full, 'AWS::Events::Rule').map(([, it]) => it.Targets[0].Arn),
      ...ofType(full, 'AWS::Lambda::EventSourceMapping').map(([, it]) => it.FunctionName),
    ];

    expect(targets).not.toContain(undefined);
    for (const target of targets) expect(target['Fn::Join'][1][1]).toBe('live');
    for (const [, { Qualifier }] of ofType(full, 'AWS::Lambda::EventInvokeConfig'))
      expect(Qualifier).toBe('live');
  });
});

describe('a version of a function', () => {
  test('differs for every function that is restarted, although its code is the same', () => {
    const codeOf = (stage: Packaged) =>
      new Map(ofType(stage, 'AWS::Lambda::Version').map(([, it]) => [it.FunctionName.Ref, it.CodeSha256]));

    expect(codeOf(restarted)).toEqual(codeOf(full));
    expect(versionsOf(restarted).filter((id) => versionsOf(full).includes(id))).toEqual([]);
    for (const [, { FunctionVersion }] of ofType(restarted, 'AWS::Lambda::Alias'))
      expect(versionsOf(restarted)).toContain(FunctionVersion['Fn::GetAtt'][0]);
  });
});
