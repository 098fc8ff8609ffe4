import { beforeAll, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { ofType, type Packaged, packagedStage, properties, resource } from './packaging.ts';

let full: Packaged;

beforeAll(async () => {
  full = await packagedStage('full');
});

function versionsOf(stage: Packaged): string[] {
  return ofType(stage, 'AWS::Lambda::Version').map(([id]) => id);
}

describe('a gradual rollout', () => {
  test('moves an alias of each function from the last version to this one, and back on the alarms', () => {
    const aliases = ofType(full, 'AWS::Lambda::Alias');

    expect(aliases).toHaveLength(versionsOf(full).length);
    for (const [id, alias] of aliases) {
      const { DeploymentGroupName } = resource(full, id).UpdatePolicy.CodeDeployLambdaAliasUpdate;
      const group = properties(full, DeploymentGroupName.Ref);
      const alarms = group.AlarmConfiguration.Alarms.map(
        ({ Name }: Part) => properties(full, Name.Ref).AlarmName,
      );
      const version = properties(full, alias.FunctionVersion['Fn::GetAtt'][0]);

      expect(id).toBe(`${alias.FunctionName.Ref.replace('LambdaFunction', '')}LiveAlias`);
      expect(version.FunctionName).toEqual(alias.FunctionName);
      expect(group).toMatchObject({
        DeploymentConfigName: parameterSets.full.rollout.replace(/^/, 'CodeDeployDefault.'),
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']),
        },
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

test('a version differs for every function that is restarted, although its code is the same', async () => {
  const [plain, restarted] = [await packagedStage('default'), await packagedStage('minimal')];
  const codeOf = (stage: Packaged) =>
    new Map(ofType(stage, 'AWS::Lambda::Version').map(([, it]) => [it.FunctionName.Ref, it.CodeSha256]));

  for (const [name, code] of codeOf(restarted)) expect([name, codeOf(plain).get(name)]).toEqual([name, code]);
  // Most functions of these stages differ in nothing else.
  expect(versionsOf(restarted).filter((id) => versionsOf(plain).includes(id))).toEqual([]);
});
