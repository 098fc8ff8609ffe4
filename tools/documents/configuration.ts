// npm run configuration
import { readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { parameters } from '../../infra/parameters/parameters.ts';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { withAlarmTable } from './alarms.ts';
import { withLaneTable } from './lanes.ts';
import { requiredParameters } from '../../infra/plugins/packages.ts';

const file = 'docs/configuration.md';
const runbook = 'docs/runbook.md';
const contributing = 'docs/CONTRIBUTING.md';

const introduction = `# Configuration

Pass \`--param=name=value\`, a file outside the checkout (\`--parameters <file>\`, with lines \`name=value\`), or a block with the stage's name under \`params\` in
\`serverless.yml\`; the first wins, and an empty value counts as not given. [The stack remembers them](deploy.md#change-parameters). Log lines
name the variable: \`bucketName\` is \`BUCKET_NAME\`. A key is a reference: \`ssm:/<name>\`, \`secretsmanager:<name>\` or \`secretsmanager:<ARN>\`.
`;

/** The text of docs/configuration.md: one line for each parameter, with its default. */
export async function configurationDocument(): Promise<string> {
  const defaults = await parameterDefaults();
  const isRequired = ([name]: [string, unknown]) => name in requiredParameters;
  const entries = Object.entries(parameters);
  const required = entries.filter(isRequired);
  const lines = [...required, ...entries.filter((entry) => !isRequired(entry))].map(([name, { about }]) => {
    return `- \`${name}\`${defaults[name] ? ` (${defaults[name]})` : ''}: ${about}`;
  });
  return [introduction, ...lines, ''].join('\n');
}

/** The value of each parameter if a stage doesn't set it. */
export async function parameterDefaults(): Promise<Record<string, string>> {
  const stage = parse(await readFile('serverless.yml', 'utf8'), { logLevel: 'silent', merge: true });
  return Object.fromEntries(
    Object.keys(parameters).map((name) => [name, defaultOf(name, stage.params.default)]),
  );
}

function defaultOf(name: string, defaults: Record<string, unknown>): string {
  if (name in requiredParameters) return 'required';
  const value = String(defaults[name] ?? '')
    .replace(`\${self:service}`, 'node-registry')
    .replace(`\${self:provider.stage}`, '<stage>');
  if (value !== '') return `\`${value}\``;
  const { success, data } = parameters[name]?.schema.safeParse(undefined) ?? {};
  const isEmpty = !success || data === undefined || ['""', '[]', '{}'].includes(JSON.stringify(data));
  return isEmpty ? '' : `\`${data}\``;
}

if (import.meta.main) {
  const command = createCommand({
    name: 'npm run configuration --',
    summary: `Writes ${file}, the alarms of ${runbook} and the lanes of ${contributing}`,
  }).action(async () => {
    await writeFile(file, await configurationDocument());
    await writeFile(runbook, withAlarmTable(await readFile(runbook, 'utf8')));
    await writeFile(contributing, withLaneTable(await readFile(contributing, 'utf8')));
    process.stdout.write(`Wrote ${file}, the alarms of ${runbook} and the lanes of ${contributing}.\n`);
  });
  await runProgram(command);
}
