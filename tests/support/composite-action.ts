import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { type Ending, runFile } from '@node-registry/testing/shell';

interface Step {
  name: string;
  if?: string;
  /** Another action, such as one that sets Node up: this machine has it. */
  uses?: string;
  run: string;
  env?: Record<string, string>;
}

interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>;
  runs: { steps: Step[] };
}

interface Run extends Ending {
  /** The names of the steps that ran. */
  steps: string[];
  outputs: Record<string, string>;
  /** The Markdown that the step left for the page of the run. */
  summary: string;
}

/** Runs the steps of a composite action as a GitHub runner does: inputs put in, conditions read, bash with -e. */
export async function runAction(
  path: string,
  given: Record<string, string>,
  { directory, temporary, env }: { directory: string; temporary: string; env: NodeJS.ProcessEnv },
): Promise<Run> {
  const { inputs, runs }: Action = parse(await readFile(path, 'utf8'));
  const values = Object.fromEntries(
    Object.entries(inputs).map(([name, { default: standard = '' }]) => [name, given[name] ?? standard]),
  );
  const place = await mkdtemp(join(temporary, 'runner-'));
  const output = join(place, 'output');
  const summary = join(place, 'summary');
  await Promise.all([output, summary].map((file) => writeFile(file, '')));
  const run: Run = { code: 0, stdout: '', stderr: '', steps: [], outputs: {}, summary: '' };
  for (const step of runs.steps) {
    if (!isWanted(step.if, values) || step.uses !== undefined) continue;
    run.steps.push(step.name);
    const stepEnv = Object.fromEntries(
      Object.entries(step.env ?? {}).map(([name, text]) => [name, withInputs(text, values)]),
    );
    const { code, stdout, stderr } = await runFile('bash', ['-e', '-o', 'pipefail', '-c', step.run], {
      cwd: directory,
      env: {
        ...env,
        ...stepEnv,
        ...{ RUNNER_TEMP: place, GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary },
        ...{ GITHUB_WORKSPACE: directory, GITHUB_ACTION_PATH: resolve(dirname(path)) },
      },
    });
    run.stdout += stdout;
    run.stderr += stderr;
    run.code = code;
    if (code !== 0) break;
  }
  const lines = (await readFile(output, 'utf8')).split('\n').filter((line) => line !== '');
  run.outputs = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  run.summary = await readFile(summary, 'utf8');
  return run;
}

function isWanted(condition: string | undefined, inputs: Record<string, string>): boolean {
  if (condition === undefined) return true;
  const [, name, operator] = /^inputs\.([\w-]+) (==|!=) ''$/.exec(condition) ?? [];
  if (name === undefined) throw new Error(`The condition "${condition}" is not understood.`);
  return (inputs[name] === '') === (operator === '==');
}

function withInputs(text: string, inputs: Record<string, string>): string {
  return text.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => {
    if (inputs[name] === undefined) throw new Error(`There is no input "${name}".`);
    return inputs[name];
  });
}
