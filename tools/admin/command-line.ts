import { UsageError } from './command.ts';
import { sentenceFor } from './faults.ts';
import { parseCommandLine } from './parse.ts';
import { requireListening } from './target.ts';

interface Result {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs one command line: 0 is done, 1 could not be done, 2 was not understood. */
export async function runCommandLine(args: string[]): Promise<Result> {
  try {
    const parsed = parseCommandLine(args);
    if ('help' in parsed) return { status: 0, stdout: parsed.help, stderr: '' };
    await requireListening();
    const { data, text } = await parsed.command.run(parsed.parameters, parsed.options);
    const stdout = parsed.json ? JSON.stringify(data, null, 2) : text;
    return { status: 0, stdout: `${stdout.trimEnd()}\n`, stderr: '' };
  } catch (error) {
    const sentence = sentenceFor(error);
    // Whatever has no sentence is a bug of ours, and its stack is of use.
    if (sentence === undefined) throw error;
    return { status: error instanceof UsageError ? 2 : 1, stdout: '', stderr: `${sentence}\n` };
  }
}
