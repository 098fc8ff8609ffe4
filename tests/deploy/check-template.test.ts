import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { acceptedWarnings, checkTemplate } from '../../tools/deploy/check-template.ts';
import { foldConditions } from '../../tools/deploy/fold-conditions.ts';
import { packagedStage, type Template } from './packaging.ts';

let folder: string;
let valid: Template;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-registry-templates-'));
  valid = (await packagedStage('default')).template;
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a stage with', () => {
  test.each(['default', 'minimal', 'full'] as const)(
    'the %s parameters has no error under CloudFormation’s schemas and cfn-lint’s rules, and no unexplained warning',
    async (set) => {
      const { errors, accepted, resources } = checkTemplate((await packagedStage(set)).file);

      expect(errors).toEqual([]);
      expect(resources).toBeGreaterThan(80);
      for (const rule of Object.keys(accepted)) expect(acceptedWarnings[rule]).toMatch(/^[A-Z].*\.$/);
    },
    60_000,
  );

  test('what is switched off has no trace of it in the template', async () => {
    const { template, file } = await packagedStage('minimal');

    expect(template).not.toHaveProperty('Conditions');
    expect(await readFile(file, 'utf8')).not.toMatch(
      /"Fn::If"|AWS::NoValue|CloudFront::Distribution|"HostedZoneId"/,
    );
  });
});

describe('the check finds', () => {
  async function errorsOf(change: (template: Template) => void): Promise<string[]> {
    const template = structuredClone(valid);
    change(template);
    const file = join(folder, 'template.json');
    await writeFile(file, JSON.stringify(template));
    return checkTemplate(file).errors;
  }
  const queue = 'FinalizeUploadFailures';

  test.each<[string, (template: Template) => void, RegExp]>([
    [
      'a property that there is none of',
      ({ Resources }) => Object.assign(Resources[queue]?.Properties, { Fifo: 1 }),
      /Fifo/,
    ],
    [
      'an empty name',
      ({ Resources }) => Object.assign(Resources.Table?.Properties, { TableName: '' }),
      /Table: /,
    ],
    ['a missing resource', ({ Resources }) => delete Resources[queue], /There is no FinalizeUploadFailures/],
    [
      'a circle',
      ({ Resources }) => Object.assign(Resources.HttpApi ?? {}, { DependsOn: ['HttpApiStage'] }),
      /A circle: .*HttpApi/,
    ],
    [
      'too many resources',
      ({ Resources }) => {
        for (let index = 0; index < 500; index += 1)
          Resources[`Topic${index}`] = { Type: 'AWS::SNS::Topic', Properties: {} };
      },
      /resources, and AWS allows 500/,
    ],
  ])('%s', async (_, change, message) => {
    expect((await errorsOf(change)).join('\n')).toMatch(message);
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
    ['Fn::Select', { 'Fn::Equals': [{ 'Fn::Select': [0, { 'Fn::Split': [':', 'ssm:/key'] }] }, 'ssm'] }],
  ])('of %s is decided, and what it switches off is gone with all that names it', (_, condition) => {
    const folded: Parameters<typeof foldConditions>[0] = template(condition);
    foldConditions(folded);

    expect(folded).toEqual({
      Resources: { Kept: { Type: 'AWS::SNS::Topic', Properties: { TopicName: 'on', Tags: [] } } },
      Outputs: {},
    });
  });

  test('that only AWS can decide is an error, not a guess', () => {
    expect(() => foldConditions(template({ 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] }))).toThrow(
      'A value that only AWS knows',
    );
  });
});
