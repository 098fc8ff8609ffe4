import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { acceptedWarnings, checkTemplate } from '../../infra/plugins/check-template.ts';
import { foldConditions } from '../../infra/plugins/fold-conditions.ts';
import { packagedStage } from './packaging.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-registry-templates-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a stage', () => {
  // The other sets have no resource that is not in one of these, except for values; npm run rehearse checks them too.
  test.each(['default', 'direct', 'minimal', 'full'] as const)(
    'passes CloudFormation’s schemas and cfn-lint’s rules with the %s parameters, without unexplained warnings',
    async (set) => {
      const { errors, accepted, resources } = checkTemplate((await packagedStage(set)).file);

      expect(errors).toEqual([]);
      expect(resources).toBeGreaterThan(80);
      for (const rule of Object.keys(accepted)) expect(acceptedWarnings[rule]).toMatch(/^[A-Z].*\.$/);
    },
  );

  test('leaves no trace of a part that is switched off', async () => {
    const { template, file } = await packagedStage('minimal');

    expect(template).not.toHaveProperty('Conditions');
    expect(await readFile(file, 'utf8')).not.toMatch(
      /"Fn::If"|AWS::NoValue|CloudFront::Distribution|"HostedZoneId"/,
    );
  });
});

describe('the check of a template', () => {
  let errors: string;

  beforeAll(async () => {
    const { template } = await packagedStage('direct');
    const { Resources } = template;
    Object.assign(Resources.Downloads?.Properties, { Speed: 1 });
    Object.assign(Resources.Table?.Properties, { TableName: '' });
    Object.assign(Resources.HttpApi ?? {}, { DependsOn: ['HttpApiStage'] });
    delete Resources.FinalizeUploadFailures;
    for (let index = 0; index < 500; index += 1)
      Resources[`Topic${index}`] = { Type: 'AWS::SNS::Topic', Properties: {} };
    const file = join(folder, 'template.json');
    await writeFile(file, JSON.stringify(template));
    errors = checkTemplate(file).errors.join('\n');
  });

  test.each([
    ['an unknown property', /^Downloads: .*Speed/m],
    ['an empty name', /^Table: /m],
    ['a circle', /^A circle: .*HttpApi -> /m],
    ['a resource that is missing', /^There is no FinalizeUploadFailures, but it is referred to/m],
    ['too many resources', /^\d+ resources, and AWS allows 500/m],
  ])('finds %s', (_, message) => {
    expect(errors).toMatch(message);
  });
});

describe('a condition', () => {
  const template = (condition: unknown) => ({
    Conditions: { IsOn: condition, IsOff: { 'Fn::Not': [{ Condition: 'IsOn' }] } },
    Resources: {
      Kept: {
        Type: 'AWS::SNS::Topic',
        DependsOn: ['Dropped'],
        Properties: {
          TopicName: { 'Fn::If': ['IsOn', 'on', { Ref: 'AWS::NoValue' }] },
          Tags: [{ 'Fn::If': ['IsOff', 'off', { Ref: 'AWS::NoValue' }] }],
        },
      },
      Dropped: { Type: 'AWS::SNS::Topic', Condition: 'IsOff', Properties: {} },
    },
    Outputs: { Dropped: { Condition: 'IsOff', Value: 1 } },
  });

  test.each([
    ['Fn::Equals', { 'Fn::Equals': ['a', 'a'] }],
    ['Fn::And', { 'Fn::And': [{ 'Fn::Equals': [1, '1'] }, { 'Fn::Equals': ['b', 'b'] }] }],
    ['Fn::Or', { 'Fn::Or': [{ 'Fn::Equals': ['a', 'b'] }, { 'Fn::Equals': ['b', 'b'] }] }],
  ])('decides %s, and removes what it switches off with every reference', (_, condition) => {
    const folded: Parameters<typeof foldConditions>[0] = template(condition);
    foldConditions(folded);

    expect(folded).toEqual({
      Resources: { Kept: { Type: 'AWS::SNS::Topic', Properties: { TopicName: 'on', Tags: [] } } },
      Outputs: {},
    });
  });

  test('causes an error if only AWS can decide it', () => {
    expect(() => foldConditions(template({ 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] }))).toThrow(
      'A value that only AWS knows',
    );
  });
});
