import { readFile } from 'node:fs/promises';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { localAddress, ports } from '../local/addresses.ts';
import { isListening } from '@node-registry/command-line/is-listening';
import { type ExampleResult, sendExamples } from './http-file.ts';

const command = createCommand({
  name: 'npm run examples --',
  summary: 'Sends every call of docs/examples to the local stack, and checks the answers',
  notes:
    'OWNER in the environment is an access token: OWNER=$(npm run --silent token -- --user demo-owner). LOCAL_PORT_OFFSET finds a stack that was started with it; API_URL and SIMULATORS_URL name any other.',
})
  .argument('<file...>', '.http files')
  .action(async (files: string[]) => {
    const apiUrl = process.env.API_URL ?? localAddress(ports.api);
    if (!process.env.OWNER)
      command.error('Set OWNER to an access token: OWNER=$(npm run --silent token -- --user demo-owner).');
    if (!(await isListening(apiUrl, 2000)))
      command.error(`Nothing listens on ${apiUrl}: start it with npm start.`);
    const failed = await sendAll(files);
    process.exitCode = failed > 0 ? 1 : 0;
  });

async function sendAll(files: string[]): Promise<number> {
  const results: ExampleResult[] = [];
  for (const file of files) {
    process.stdout.write(`${file}\n`);
    for await (const result of sendExamples(await readFile(file, 'utf8'))) {
      results.push(result);
      show(result);
    }
  }
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  process.stdout.write(`${results.length} examples sent, ${results.length - failed} answered as expected.\n`);
  return failed;
}

function show({ title, request, status, failures, answer }: ExampleResult): void {
  process.stdout.write(`  ${failures.length === 0 ? '✓' : '✖'} ${status} ${request}  ${title}\n`);
  for (const line of failures.length > 0 ? [...failures, answer] : [])
    process.stdout.write(`      ${line}\n`);
}

await runProgram(command);
