import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { acceptedWarnings, checkTemplate } from '../../infra/plugins/check-template.ts';
import type { Template } from '../../infra/plugins/framework.ts';
import { foldConditions } from '../../infra/plugins/fold-conditions.ts';
import { flagsOf, requiredParameters } from '../../infra/plugins/packages.ts';
import { rehearse } from '../../infra/plugins/rehearse.ts';
import { directory } from '@node-registry/testing/folders';
import { builtProject, packagedStage } from './packaging.ts';

describe('a stage', () => {
  // The other sets have no resource that is not in one of these.
  test.each(['minimal', 'full'] as const)(
    'passes CloudFormation’s schemas and cfn-lint’s rules with the %s parameters, without unexplained warnings',
    async (set) => {
      const { errors, accepted, resources } = checkTemplate((await packagedStage(set)).file);

      expect(errors).toEqual([]);
      expect(resources).toBeGreaterThan(80);
      for (const rule of Object.keys(accepted)) expect(acceptedWarnings[rule]).toMatch(/^[A-Z].*\.$/);
    },
  );
});

describe('the check of a template', () => {
  let errors: string;

  beforeAll(async () => {
    const { template } = await packagedStage('direct');
    const { Resources } = template;
    Object.assign(Resources.Downloads?.Properties, { Speed: 1 });
    template.Outputs.Large = { Value: 'x'.repeat(1_100_000) };
    Resources.UpdateNodeRole?.Properties.Policies.push('x'.repeat(10_240));
    const file = join(directory, 'template.json');
    await writeFile(file, JSON.stringify(template));
    errors = checkTemplate(file).errors.join('\n');
  });

  test.each([
    ['an unknown property', /^Downloads: .*Speed/m],
    ['too much text', /^\d+ bytes of template, and AWS allows 1048576\.$/m],
    ['too many rights', /^\d+ bytes of policies in UpdateNodeRole, and AWS allows 10240\.$/m],
  ])('finds %s', (_, message) => {
    expect(errors).toMatch(message);
  });
});

test('a template has no part that a condition switches off, and none that nothing decides', () => {
  const Type = 'AWS::SNS::Topic';
  const choice = (name: string) => ({ 'Fn::If': [name, 'on', { Ref: 'AWS::NoValue' }] });
  const Properties = { TopicName: choice('IsOn'), Tags: [choice('IsOff')] };
  const template: Template = {
    Resources: {
      Kept: { Type, DependsOn: ['Dropped'], Properties },
      Dropped: { Type, Condition: 'IsOff', Properties: {} },
    },
    Outputs: { Dropped: { Condition: 'IsOff' } },
  };
  foldConditions(template, { IsOn: true, IsOff: false });

  expect(template).toEqual({
    Resources: { Kept: { Type, Properties: { TopicName: 'on', Tags: [] } } },
    Outputs: {},
  });
  const unknown = { Resources: {}, Outputs: { Odd: { Condition: 'IsOdd' } } };
  expect(() => foldConditions(unknown, {})).toThrow('Nothing decides the condition IsOdd.');
});

// Here, since the checks of a template take seconds to load.
describe('npm run rehearse', () => {
  test('checks the stage that the options of a deployment describe', async () => {
    const flags = [...flagsOf(requiredParameters), '--region', 'eu-west-1'];
    const { isFine, text } = await rehearse(flags, await builtProject('rehearsed'));

    expect(isFine).toBe(true);
    expect(text).toMatch(/^\d+ resources, 0 errors\nAccepted \d+ times, W/);
  });

  test('fails with the sentences of a stage that cannot be deployed', async () => {
    const options = ['--stage', 'prod', '--param', 'rateLimit=abc'];
    const { isFine, text } = await rehearse(options, await builtProject('not-rehearsed'));

    expect(isFine).toBe(false);
    expect(text).toContain('rateLimit: must be a whole number from 1 to 2500.\n');
  });
});
