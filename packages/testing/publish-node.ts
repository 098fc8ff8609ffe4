import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { writeTo } from '@node-registry/publish-node/output';
import { run } from '@node-registry/publish-node/program';
import { directory } from './folders.ts';
import { type Ending, own, type RunOptions, runFile } from './shell.ts';

/** The packed command, three times as fast to start as its sources. The first test to need it builds it. */
export function packedProgram(): string {
  const program = join(process.env.TEST_DIRECTORY ?? directory, 'publish-node.cjs');
  if (existsSync(program)) return program;
  const outfile = `${program}.${process.pid}`;
  buildSync({
    entryPoints: ['@node-registry/publish-node'],
    outfile,
    bundle: true,
    absWorkingDir: import.meta.dirname,
    conditions: ['in-tree', 'module'],
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  renameSync(outfile, program);
  return program;
}

let turn: Promise<unknown> = Promise.resolve();

/** Runs the command in this process, one run after another: they share its environment and folder. */
export function publishNode(args: readonly string[], options: RunOptions = {}): Promise<Ending> {
  const ending = turn.then(() => runHere(args, options));
  turn = ending.catch(() => undefined);
  return ending;
}

async function runHere(args: readonly string[], { env = {}, cwd = '.' }: RunOptions): Promise<Ending> {
  const before = { ...process.env };
  const folder = process.cwd();
  process.chdir(cwd);
  const ending: Ending = { code: 0, stdout: '', stderr: '' };
  writeTo({
    stdout: { write: (text) => (ending.stdout += text) },
    stderr: { write: (text) => (ending.stderr += text) },
  });
  try {
    for (const name of Object.keys(before)) if (own.test(name)) delete process.env[name];
    for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
    ending.code = await run(args);
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
    process.chdir(folder);
    writeTo(process);
  }
  return ending;
}

/** The same with --json: how it ended, and its report. */
export async function reportOf(args: readonly string[], options?: RunOptions) {
  const { stdout, ...ending } = await publishNode([...args, '--json'], options);
  return { ...ending, ...JSON.parse(stdout) };
}

/** The pyproject.toml of a node of the demo publisher. */
export function projectOf(node: string, version = '1.0.0'): string {
  return `[project]\nname = "${node}"\nversion = "${version}"\n[tool.node-registry]\npublisher = "demo"\n`;
}

/** Runs the packed command in a process of its own. */
export function spawnPublishNode(args: readonly string[], options?: RunOptions): Promise<Ending> {
  return runFile(process.execPath, [packedProgram(), ...args], options);
}

/** Arguments that show a publish of a folder without metadata, without sending anything. */
export function dryRun(folder: string): string[] {
  return ['publish', '--dry-run', '--publisher', 'demo', '--node', 'x', '--version', '1.0.0', folder];
}
