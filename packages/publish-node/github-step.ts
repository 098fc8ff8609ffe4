import { appendFile } from 'node:fs/promises';
import { type Report, terminal } from './output.ts';
import { printable } from './printable.ts';

/*
 * The results of a GitHub Actions step: outputs, a summary and, after a failure, an annotation. Texts come
 * from files and a server, so none of them may add a line.
 */

const summaryRows = ['status', 'publisher', 'node', 'version', 'download_url', 'sha256'] as const;

export async function leaveStep(report: Report, environment: NodeJS.ProcessEnv): Promise<void> {
  const { GITHUB_OUTPUT, GITHUB_STEP_SUMMARY } = environment;
  const { status, version, download_url, sha256 } = report;
  const outputs = { version, status, 'download-url': download_url, sha256 };
  const lines = Object.entries(outputs).map(([name, value]) => `${name}=${ofAddress(value)}\n`);
  if (GITHUB_OUTPUT) await appendFile(GITHUB_OUTPUT, lines.join(''));
  if (GITHUB_STEP_SUMMARY) await appendFile(GITHUB_STEP_SUMMARY, summaryOf(report));
  if (report.status === 'failed') terminal.write(`::error title=publish-node::${annotation(report)}\n`);
}

/** A workflow may insert an output into a script, where a server's shell characters would run as commands. */
function ofAddress(value: unknown): string {
  const text = line(value);
  return /^[\w.~:/?@+,=%-]*$/.test(text) ? text : '';
}

function line(value: unknown): string {
  return value === null || value === undefined ? '' : printable(String(value));
}

function summaryOf(report: Report): string {
  const rows = summaryRows
    .filter((name) => report[name] !== null)
    .map((name) => `| ${name.replace('_', ' ')} | ${code(report[name])} |`);
  const counts = [
    ...(Array.isArray(report.files) ? [`| files | ${report.files.length} |`] : []),
    ...(Array.isArray(report.left_out) ? [`| left out by rules | ${countOf(report.left_out)} |`] : []),
    ...(Array.isArray(report.host_nodes) ? [`| host nodes | ${report.host_nodes.length} |`] : []),
  ];
  const problem = report.message === null ? [] : ['', code(report.message)];
  const notes = Array.isArray(report.notes) ? report.notes.slice(0, maxNotes) : [];
  const said = ['', ...notes.map((note) => `- ${code(note)}`)];
  return ['### publish-node', '', '| | |', '|---|---|', ...rows, ...counts, ...problem, ...said, '', ''].join(
    '\n',
  );
}

const maxNotes = 20;

function countOf(leftOut: readonly { files: number }[]): number {
  return leftOut.reduce((total, { files }) => total + files, 0);
}

function code(value: unknown): string {
  const text = line(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<code>${text.replaceAll('|', '&#124;').replaceAll('`', '&#96;')}</code>`;
}

/** In the format of the runner's commands: escaped once. */
function annotation({ message, details }: Report): string {
  const places = Array.isArray(details) ? details.slice(0, 20) : [];
  const lines = [message, ...places.map(({ path, message: what }) => `${path}: ${what}`)].map(line);
  return lines.join('\n').replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
