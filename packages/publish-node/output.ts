import { exitCodes, Failure, foreseen, shown } from './failure.ts';
import { printable, printableJson } from './printable.ts';

interface Stream {
  isTTY?: boolean;
  write: (text: string) => unknown;
}

interface Streams {
  stdout: Stream;
  stderr: Stream;
}

/** The output streams; a program that runs the command in its own process passes others. */
let streams: Streams = process;

export function writeTo(others: Streams): void {
  streams = others;
}

/** For the command's own drawing, such as a progress bar. */
export const terminal: Stream = {
  get isTTY() {
    return streams.stderr.isTTY === true;
  },
  write: (text) => streams.stderr.write(text),
};

/** Messages for people during the run; results go to standard output. */
export function say(...lines: readonly string[]): void {
  if (lines.length > 0) streams.stderr.write(linesOf(lines));
}

export function tell(lines: readonly string[]): void {
  if (lines.length > 0) streams.stdout.write(linesOf(lines));
}

/** The report of every command with --json, for any exit: all keys are present, and null means unknown. */
const emptyReport = {
  /** signed_in, signed_out, created, edited, listed, revoked, rotated, invited, removed, added, published, already_published, dry_run, packed, withdrawn, dropped, restored, deprecated, undeprecated, found, downloaded, failed, or the state for `status`. */
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
  /** The files and folders that rules exclude, with the number of files. */
  left_out: null,
  notes: [],
  host_node_extract_status: null,
  host_node_extract_reason: null,
  host_nodes: null,
  /** Statements of the pack that could not be followed. */
  host_node_notes: null,
  /** The registry's version, and the reason for its state. */
  node_version: null,
  reason: null,
  /** The results of `search`, or the node of `show`. */
  nodes: null,
  versions: null,
  /** Who is signed in, and what the commands for accounts show; `token` and `invitation` are secrets. */
  user: null,
  publishers: null,
  tokens: null,
  token: null,
  members: null,
  invitations: null,
  invitation: null,
  trusts: null,
  /** The file or folder that `download` wrote. */
  output: null,
  error: null,
  message: null,
  details: [],
  request_id: null,
};

export type Report = Record<keyof typeof emptyReport, unknown>;

/** How a command ended: the report for machines, and the lines for people. */
export interface Ending {
  /** Absent after a success. */
  exitCode?: number;
  report: Partial<Report>;
  lines: readonly string[];
}

export function reportOf(result: Partial<Report>): Report {
  const said = Object.entries(result).filter(([, value]) => value !== undefined);
  return { ...emptyReport, ...Object.fromEntries(said) };
}

/** Prints one JSON document, the only text on standard output. */
export function printReport(report: Report): void {
  // A name in Python may contain half a character, which some readers of JSON reject.
  const wellFormed = (_: string, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value;
  streams.stdout.write(`${printableJson(JSON.stringify(report, wellFormed, 2))}\n`);
}

function linesOf(lines: readonly string[]): string {
  return `${lines.map(printable).join('\n')}\n`;
}

/** The version that a command is about, as far as it is known. */
export interface Meant {
  publisher: string | undefined;
  node: string | undefined;
  version: string | undefined;
}

export type Mean = (meant: Meant) => void;

/** Runs a command, prints how it ended, and returns that; unexpected errors keep their stack. */
export async function end(asJson: boolean, run: (mean: Mean) => Promise<Ending>): Promise<Required<Ending>> {
  let meant: Partial<Meant> = {};
  const printed = (ending: Required<Ending>) => {
    if (asJson) printReport(reportOf(ending.report));
    else tell(ending.lines);
    return ending;
  };
  try {
    const ending = await run((version) => {
      meant = version;
    });
    return printed({ exitCode: exitCodes.done, ...ending });
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
