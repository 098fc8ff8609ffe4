import { RegistryError } from '../registry-client/client.ts';
import { Failure, failureOf, shown } from './failure.ts';

/** What people read while it runs; results go to standard output. */
export const say = (line: string) => void process.stderr.write(`${line}\n`);

/** What every command prints with --json, however it ends: all keys are always there. */
const emptyReport = {
  /** published, already_published, dry_run, failed, or what `status` found: active, pending, banned and so on. */
  status: 'failed',
  publisher: null,
  node: null,
  version: null,
  download_url: null,
  sha256: null,
  archive_bytes: null,
  unpacked_bytes: null,
  chosen_by: null,
  files: [],
  notes: [],
  host_node_extract_status: null,
  host_node_extract_reason: null,
  host_nodes: [],
  /** Statements of the pack that could not be followed. */
  host_node_notes: [],
  /** What the registry has, and why it is as it is. */
  node_version: null,
  reason: null,
  error: null,
  message: null,
  details: [],
  request_id: null,
};

/** A result: for machines one JSON document and nothing else on standard output. */
export function print(asJson: boolean, result: object, lines: readonly string[]): void {
  if (asJson) printReport(result);
  else process.stdout.write(`${lines.join('\n')}\n`);
}

export function printReport(result: object): void {
  const said = Object.entries(result).filter(([, value]) => value !== undefined);
  const report = { ...emptyReport, ...Object.fromEntries(said) };
  // A name in Python may hold half a character, which not every reader of JSON takes.
  const wellFormed = (_: string, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value;
  process.stdout.write(`${JSON.stringify(report, wellFormed, 2)}\n`);
}

/** Which version a command is about, as far as it is known. */
export interface Meant {
  publisher: string | undefined;
  node: string | undefined;
  version: string | undefined;
}

export type Mean = (meant: Meant) => void;

/** Runs a command to its exit code; what it did not foresee keeps its stack. It says which version it is about. */
export async function end(asJson: boolean, run: (mean: Mean) => Promise<number>): Promise<number> {
  let meant: Partial<Meant> = {};
  try {
    return await run((version) => {
      meant = version;
    });
  } catch (error) {
    const failure = error instanceof RegistryError ? failureOf(error) : error;
    if (!(failure instanceof Failure)) {
      if (asJson) printReport({ ...meant, error: 'internal_error', message: String(error) });
      throw error;
    }
    const { code, message, problems, requestId, exitCode } = failure;
    if (asJson) printReport({ ...meant, error: code, message, details: problems, request_id: requestId });
    say(shown(failure));
    return exitCode;
  }
}
