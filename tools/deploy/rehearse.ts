import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acceptedWarnings, checkTemplate } from './check-template.ts';
import { packageStage, templateIn } from './packages.ts';
import { parameterSets } from './parameter-sets.ts';

/*
 * A first deployment as far as it can be tried without an account: every kind of stage is packaged, and what would be
 * deployed is checked. What only AWS can show is a checklist in docs/operations.md, which is printed at the end.
 */

const print = (line: string) => process.stdout.write(`${line}\n`);
const folder = await mkdtemp(join(tmpdir(), 'node-registry-rehearsal-'));
let errorCount = 0;
try {
  print(
    'Checked: the parameters, every resource against its schema and cfn-lint’s rules, all conditions, references,',
  );
  print('circles, and the limits of CloudFormation, Lambda and IAM.\n');
  for (const [name, parameters] of Object.entries(parameterSets)) {
    const target = join(folder, name);
    await packageStage('.', target, parameters);
    const { resources, errors, accepted } = checkTemplate(templateIn(target));
    const warnings = Object.entries(accepted).map(([rule, count]) => `${count} × ${rule}`);
    print(
      `${name}: ${resources} resources, ${errors.length} errors; accepted: ${warnings.join(', ') || 'nothing'}`,
    );
    for (const error of errors) print(`  ${error}`);
    errorCount += errors.length;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
print('\nAccepted warnings:');
for (const [rule, reason] of Object.entries(acceptedWarnings)) print(`  ${rule}  ${reason}`);
print('\nOnly AWS can show (docs/operations.md, "What only AWS can show", has the command for each):');
for (const item of await openQuestions()) print(`  - ${item}`);
if (errorCount > 0) process.exitCode = 1;

/** The bold beginnings of the list in the operations page. */
async function openQuestions(): Promise<string[]> {
  const page = await readFile('docs/operations.md', 'utf8');
  const [, section = ''] = page.split('## What only AWS can show\n');
  const list = section.split('\n## ')[0] ?? '';
  return [...list.matchAll(/^\d+\. \*\*(.+?)\*\*/gm)].map(([, item]) => String(item));
}
