import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Part } from '../../infra/plugins/references.ts';
import { asText } from './intrinsics.ts';
import { type Packaged, packagedStage, type Template } from './packaging.ts';

let stage: Packaged;
let direct: Packaged;

beforeAll(async () => {
  [stage, direct] = await Promise.all([packagedStage('full'), packagedStage('direct')]);
});

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: Part;
  Condition?: Part;
}

/** The statements of each role. */
function statements({ Resources }: Template): Map<string, Statement[]> {
  const roles = Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::IAM::Role');
  return new Map(
    roles.map(([name, { Properties }]) => [
      name,
      Properties.Policies.flatMap(({ PolicyDocument }: Part) => PolicyDocument.Statement),
    ]),
  );
}

const tableArn = `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/node-registry-prod`;

function inWords({ Effect, Action, Resource, Condition }: Statement): string {
  const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
  const condition = keys
    ? ` with keys ${keys.join(', ')}`
    : Condition
      ? ` when ${conditionText(Condition)}`
      : '';
  const what = [Action].flat().join(', ');
  const where = [Resource].flat().map(asText).join(', ').replaceAll(tableArn, `\${Table.Arn}`);
  return `${Effect} ${what} on ${where}${condition}`;
}

function conditionText(condition: Part): string {
  return Object.entries<Part>(condition)
    .flatMap(([operator, tests]) =>
      Object.entries<Part>(tests).map(
        ([key, value]) => `${key} ${operator} ${[value].flat().map(asText).join(' or ')}`,
      ),
    )
    .join(' and ');
}

describe('the roles', () => {
  test('grant exactly what tests/infra/statements.json says', () => {
    const words = [...statements(stage.template)].map(([role, list]) => [role, list.map(inWords)]);

    expect(Object.fromEntries(words)).toEqual(
      JSON.parse(readFileSync('tests/infra/statements.json', 'utf8')),
    );
  });

  test('exist once per function for Lambda only, and once for CodeDeploy', () => {
    const functions = Object.values(stage.template.Resources).filter(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    );
    const roles = functions.map(({ Properties }) => Properties.Role['Fn::GetAtt'][0]);

    expect(new Set(roles).size).toBe(15);
    for (const role of [...roles, 'RolloutRole']) {
      const { AssumeRolePolicyDocument, Policies, ...rest } =
        stage.template.Resources[role]?.Properties ?? {};
      const Service = role === 'RolloutRole' ? 'codedeploy.amazonaws.com' : 'lambda.amazonaws.com';
      // A name of the stage's own would be taken in a second region.
      expect([Policies.length, rest]).toEqual([1, {}]);
      expect(AssumeRolePolicyDocument).toEqual({
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: { Service }, Action: 'sts:AssumeRole' }],
      });
    }
    expect([...statements(stage.template).keys()].sort()).toEqual([...roles, 'RolloutRole'].sort());
  });

  test('let notifications read no secret if none is named', async () => {
    const { template } = await packagedStage('minimal');

    expect(JSON.stringify(statements(template).get('ReceiveNotificationRole'))).not.toMatch(
      /GetParameter|GetSecret/,
    );
  });

  test('let the proxies write tickets only if the stage relays notifications', () => {
    const withTickets = ({ template }: Packaged) =>
      [...statements(template)].filter(([, list]) => JSON.stringify(list).includes('TICKET#'));
    const proxies = ['ExtendVideoRole', 'MultiframeVideoRole', 'RelightImageRole', 'TextToVideoRole'];
    const proxiesOf = (packaged: Packaged) =>
      withTickets(packaged).flatMap(([role]) => (proxies.includes(role) ? [role] : []));

    expect(proxiesOf(stage).sort()).toEqual(proxies);
    expect(proxiesOf(direct)).toEqual([]);
  });
});
