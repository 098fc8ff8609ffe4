import { Failure, foreseen, shown } from './failure.ts';
import { printable, printableJson } from './printable.ts';

interface Stream {
  isTTY?: boolean;
  write: (text: string) => unknown;
}

interface Streams {
  stdout: Stream;
  stderr: Stream;
}

/** Where everything is written; a program that runs the command in its own process hands over others. */
let streams: Streams = process;

export function writeTo(others: Streams): void {
  streams = others;
}

/** For what the command itself draws, such as a progress bar. */
export const terminal: Stream = {
  get isTTY() {
    return streams.stderr.isTTY === true;
  },
  write: (text) => streams.stderr.write(text),
};

/** What people read while it runs; results go to standard output. */
export function say(...lines: readonly string[]): void {
  if (lines.length > 0) streams.stderr.write(linesOf(lines));
}

export function tell(lines: readonly string[]): void {
  if (lines.length > 0) streams.stdout.write(linesOf(lines));
}

/** What every command prints with --json, however it ends: all keys are always there, and null is not known. */
const emptyReport = {
  /** published, already_published, dry_run, packed, withdrawn, restored, deprecated, undeprecated, found, downloaded, failed, or what `status` found. */
  status: 'failed',
  publisher: null,
  node: null,
  version: null,
  download_url: null,
  sha256: null,
  archive_bytes: null,
  unpacked_bytes: null,
  chosen_by: null,
  files: null,
  notes: [],
  host_node_extract_status: null,
  host_node_extract_reason: null,
  host_nodes: null,
  /** Statements of the pack that could not be followed. */
  host_node_notes: null,
  /** What the registry has, and why it is as it is. */
  node_version: null,
  reason: null,
  /** What `search` found, or the node that `show` shows. */
  nodes: null,
  versions: null,
  /** The file or folder that `download` wrote. */
  output: null,
  error: null,
  message: null,
  details: [],
  request_id: null,
};

export type Report = Record<keyof typeof emptyReport, unknown>;

/** How a command ended: for machines the report, and for people the lines. */
export interface Ending {
  exitCode: number;
  report: Partial<Report>;
  lines: readonly string[];
}

export function reportOf(result: Partial<Report>): Report {
  const said = Object.entries(result).filter(([, value]) => value !== undefined);
  return { ...emptyReport, ...Object.fromEntries(said) };
}

/** Prints one JSON document, the only text on standard output. */
export function printReport(report: Report): void {
  // A name in Python may hold half a character, which not every reader of JSON takes.
  const wellFormed = (_: string, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value;
  streams.stdout.write(`${printableJson(JSON.stringify(report, wellFormed, 2))}\n`);
}

function linesOf(lines: readonly string[]): string {
  return `${lines.map(printable).join('\n')}\n`;
}

/** Which version a command is about, as far as it is known. */
export interface Meant {
  publisher: string | undefined;
  node: string | undefined;
  version: string | undefined;
}

export type Mean = (meant: Meant) => void;

/** Runs a command, prints how it ended, and returns that; what it did not foresee keeps its stack. */
export async function end(asJson: boolean, run: (mean: Mean) => Promise<Ending>): Promise<Ending> {
  let meant: Partial<Meant> = {};
  const printed = (ending: Ending) => {
    if (asJson) printReport(reportOf(ending.report));
    else tell(ending.lines);
    return ending;
  };
  try {
    return printed(
      await run((version) => {
        meant = version;
      }),
    );
  } catch (error) {
    const failure = foreseen(error);
    if (!(failure instanceof Failure)) {
      if (asJson) printReport(reportOf({ ...meant, error: 'internal_error', message: String(error) }));
      throw error;
    }
    const { code, message, problems, requestId, exitCode } = failure;
    say(...shown(failure));
    const report = { ...meant, error: code, message, details: problems, request_id: requestId };
    return printed({ exitCode, report, lines: [] });
  }
}
