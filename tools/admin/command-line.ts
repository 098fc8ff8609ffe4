import { runCommand } from 'command-line/command';
import { UsageError } from './command.ts';
import { sentenceFor } from './faults.ts';
import { type Ask, createProgram } from './program.ts';

interface Result {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs one command line. Its status is 0 for success, 1 for a failure, and 2 for a command line that is invalid. */
export async function runCommandLine(args: string[], ask?: Ask): Promise<Result> {
  const result: Result = { status: 0, stdout: '', stderr: '' };
  const output = {
    stdout: { write: (text: string) => (result.stdout += text) },
    stderr: { write: (text: string) => (result.stderr += text) },
  };
  const program = createProgram(output, ask);
  try {
    result.status = await runCommand(program, args.length > 0 ? args : ['--help']);
  } catch (error) {
    const sentence = sentenceFor(error);
    // An unexpected error is a bug of ours, and its stack helps.
    if (sentence === undefined) throw error;
    result.status = error instanceof UsageError ? 2 : 1;
    result.stderr += `${sentence}\n`;
  }
  return result;
}
