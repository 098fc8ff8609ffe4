import { describe, expect, test } from '@jest/globals';
import type { Part } from '../../infra/plugins/references.ts';
import { asText } from './intrinsics.ts';
import { isServed, ownStatements, ownText, type Statement } from '../support/rights.ts';
import { packagedStage, type Template } from './packaging.ts';

const stage = await packagedStage('full');

/** The statements of each role. */
function statements({ Resources }: Template): Map<string, Statement[]> {
  const roles = Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::IAM::Role');
  const statementsIn = ({ Policies }: Part): Statement[] =>
    Policies.flatMap(({ PolicyDocument }: Part) => PolicyDocument.Statement);
  return new Map(roles.map(([name, { Properties }]) => [name, statementsIn(Properties)]));
}

const allStatements = () =>
  [...statements(stage.template)].flatMap(([role, list]) => list.map((each) => [role, each] as const));

describe('the roles', () => {
  test('allow no wildcard of actions or resources', () => {
    for (const [, { Effect, Action, Resource }] of allStatements()) {
      expect([Action].flat().filter((action) => action.includes('*'))).toEqual([]);
      if (Effect === 'Allow') expect([Resource].flat()).not.toContain('*');
    }
  });

  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
  test('reach only partitions of the table that they name', () => {
    const onTable = allStatements().filter(
      ([role, { Resource }]) =>
        role !== 'AdministrationRole' && asText(Resource).endsWith(':table/node-registry-prod'),
    );

    expect(onTable.length).toBeGreaterThan(20);
    for (const [role, { Effect, Condition }] of onTable) {
      const names = `${role} ${Effect} ${Object.keys(Condition ?? {})}`;
      expect(names).toMatch(
        /^\w+ (?:Allow ForAllValues:StringLike\S*|Deny For(?:All|Any)[^,]*(?:,ForAny[^,]*)?)$/,
      );
    }
  });

  test('grant the table, the bucket and the queues as the tests let each function reach them', () => {
    const packaged = [...statements(stage.template)].map(
      ([role, list]) => [role, JSON.parse(ownText(list)).filter(isServed)] as const,
    );

    expect(new Map(packaged)).toEqual(ownStatements());
  });
});
