import { outliveReaders } from '@node-registry/command-line/command';
import { confirm } from '@node-registry/command-line/confirm';
import { runCommandLine } from './program.ts';
import { chooseTarget } from './target.ts';

const args = process.argv.slice(2);
outliveReaders();
chooseTarget(args);
const ask = (question: string) => confirm(question, process.stdin, process.stderr);
const { status } = await runCommandLine(args, process.stdin.isTTY ? ask : undefined, process);
process.exitCode = status;
