import { RegistryError } from '../registry-client/client.ts';
import { Failure, failureOf, shown } from './failure.ts';

/** What people read while it runs; results go to standard output. */
export const say = (line: string) => void process.stderr.write(`${line}\n`);

/** A result: for machines one JSON document and nothing else on standard output. */
export function print(asJson: boolean, result: object, lines: readonly string[]): void {
  process.stdout.write(asJson ? `${JSON.stringify(result, null, 2)}\n` : `${lines.join('\n')}\n`);
}

/** Runs a command to its exit code; what it did not foresee keeps its stack. */
export async function end(asJson: boolean, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const failure = error instanceof RegistryError ? failureOf(error) : error;
    if (!(failure instanceof Failure)) throw error;
    const { code, message, problems, requestId, exitCode } = failure;
    if (asJson) {
      const body = { error: code, message, details: problems, request_id: requestId };
      process.stdout.write(`${JSON.stringify(body, null, 2)}\n`);
    }
    say(shown(failure));
    return exitCode;
  }
}
