import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RegoEngine, TemplateFile } from '@aws/cloudformation-validate';
import { expect, test } from '@jest/globals';
import { foldConditions } from '../../infra/plugins/fold-conditions.ts';
import { directory } from '@node-registry/testing/folders';
import { packagedStage } from './packaging.ts';

const acceptedWarnings = [
  // The framework also states dependencies that a reference enforces.
  'W3005',
  // It names the bucket by text where S3 may invoke the finalizer: the bucket itself waits for that permission.
  'W9002',
  // Numbers from the command line are text in the template. CloudFormation converts them.
  'W9003',
];

const engine = new RegoEngine();

/** What CloudFormation's resource schemas and the rules of cfn-lint find. */
function problemsIn(file: string): string[] {
  const { status, diagnostics } = engine.validateStandard(new TemplateFile(file));
  expect(status).toBe('OK');
  return diagnostics
    .filter(({ severity, ruleId }) => !/INFO|DEBUG/.test(severity) && !acceptedWarnings.includes(ruleId))
    .map(({ ruleId, message, entity }) => `${entity?.logicalId}: ${ruleId} ${message}`);
}

// The other sets have no resource that is not in one of these.
test.each(['minimal', 'full'] as const)(
  'the stage with the %s parameters passes CloudFormation’s schemas and cfn-lint’s rules, which find a wrong property',
  async (set) => {
    const { file, template } = await packagedStage(set);
    expect(problemsIn(file)).toEqual([]);
    Object.assign(template.Resources.Table?.Properties, { Speed: 1 });
    const changed = join(directory, `${set}.json`);
    await writeFile(changed, JSON.stringify(template));

    expect(problemsIn(changed)).toEqual([expect.stringMatching(/^Table: .*Speed/)]);
  },
);

test('a part whose condition nothing decides is an error', () => {
  const template = { Resources: {}, Outputs: { Odd: { Condition: 'IsOdd' } } };

  expect(() => foldConditions(template, {})).toThrow('Nothing decides the condition IsOdd.');
});
