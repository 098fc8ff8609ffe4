// npm run rehearse -- [the options of npm run deploy]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { buildFunctions } from '../bundle/build.ts';
import { acceptedWarnings, checkTemplate } from './check-template.ts';
import { packageWith, templateIn } from './packages.ts';

/*
 * Rehearses a first deployment as far as possible without an account: packages the operator's stage, and
 * checks the result. docs/deploy.md has a checklist for the rest, which only AWS can show.
 */

/** Returns whether the stage with these options can be deployed, and a report for a person. */
export async function rehearse(
  options: readonly string[],
  project = '.',
): Promise<{ isFine: boolean; text: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-rehearsal-'));
  try {
    await packageWith(project, folder, options);
    const { resources, errors, accepted } = checkTemplate(templateIn(folder));
    const warnings = Object.entries(accepted).map(
      ([rule, count]) => `Accepted ${count} times, ${rule}: ${acceptedWarnings[rule]}`,
    );
    const rest = 'Only AWS can show the rest: docs/deploy.md, "Verify the stage".';
    const lines = [`${resources} resources, ${errors.length} errors`, ...errors, ...warnings, rest];
    return { isFine: errors.length === 0, text: lines.join('\n') };
  } catch (error) {
    return { isFine: false, text: (error as { stdout?: string }).stdout ?? String(error) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const command = createCommand({
    name: 'npm run rehearse --',
    summary: 'Packages a stage and checks what would be deployed, without an account',
    notes: 'It takes the options of npm run deploy.',
    examples: ['--stage prod --region eu-west-1 --param=tokenIssuer=https://issuer.example.com/'],
  })
    .allowUnknownOption()
    .argument('[options...]')
    .action(async (options: string[]) => {
      await buildFunctions();
      const { isFine, text } = await rehearse(options);
      process.stdout.write(`${text}\n`);
      if (!isFine) process.exitCode = 1;
    });
  await runProgram(command);
}
