import { type ExecFileException, execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { devNull } from 'node:os';
import { Failure } from '../failure.ts';
import { requirePlainFiles } from './git-opens.ts';

/*
 * The only place that starts git. Nothing in a stranger's repository, above all its configuration, may start a program or open
 * a connection. Only commands that list are run: they need no filter, pager or hook.
 */

const maxOutputBytes = 256 * 1024 * 1024;
/** A repository of a million files takes seconds. */
const patienceMs = 60_000;

const settings = [
  // A committed folder that is a bare repository would bring its own configuration.
  'safe.bareRepository=explicit',
  'protocol.allow=never',
  'core.fsmonitor=false',
  `core.hooksPath=${devNull}`,
  'core.sshCommand=false',
  'credential.helper=',
  'submodule.recurse=false',
];

const environment = {
  LC_ALL: 'C',
  // Unlike protocol.allow it holds against a protocol that the repository allows by name. Older versions of git know
  // no other way to stop the fetch of a missing object, for which a promisor remote may name the program.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
};

/** The person's own settings, such as safe.directory. A hook's GIT_DIR and the secrets of a CI job stay behind. */
const kept = /^(?:HOME|USERPROFILE|HOMEDRIVE|HOMEPATH|SYSTEMROOT|XDG_CONFIG_HOME|TMPDIR|TEMP|TMP)$/i;
const keptOfGit = /^GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)$/;

/** What a `git` from outside of the repository prints at the top of a work tree, about one of its folders. */
export async function runGit(
  { top, folder, program = findGit(top) }: { top: string; folder: string; program?: string },
  args: readonly string[],
  timeoutMs = patienceMs,
): Promise<string> {
  await requirePlainFiles(top, folder);
  const own = Object.entries(process.env).filter(([name]) => kept.test(name) || keptOfGit.test(name));
  // Windows looks for a program in the current folder first.
  const cwd = dirname(process.execPath);
  const env = { ...Object.fromEntries(own), ...environment };
  const options = { cwd, env, maxBuffer: maxOutputBytes, timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
  const all = [...settings, ...ownership(top)];
  const given = ['--no-pager', '--literal-pathspecs', ...all.flatMap((setting) => ['-c', setting])];
  return new Promise((resolve, reject) => {
    const done = (error: ExecFileException | null, stdout: string, stderr: string) => {
      if (!error) return resolve(stdout);
      const late = `git has not answered in ${timeoutMs / 1000} seconds`;
      const reason =
        error.signal === 'SIGKILL' ? late : stderr.trim() || `git ended with ${error.signal ?? error.code}`;
      // Git's refusal is final: another way of listing would silently choose other files.
      reject(new Failure('usage', `The folder is in a git repository that cannot be read: ${reason}.`));
    };
    execFile(program, [...given, '-C', top, `--work-tree=${top}`, ...args], options, done);
  });
}

/**
 * In a job with a container, the runner's user owns the workspace, and git rejects it because a configuration can start
 * programs. Here it can't.
 */
function ownership(top: string): string[] {
  const { GITHUB_ACTIONS, GITHUB_WORKSPACE, GITLAB_CI, CI_PROJECT_DIR } = process.env;
  const workspace =
    GITHUB_ACTIONS === 'true' ? GITHUB_WORKSPACE : GITLAB_CI === 'true' ? CI_PROJECT_DIR : undefined;
  const isInside =
    workspace !== undefined && isAbsolute(workspace) && `${top}${sep}`.startsWith(real(workspace));
  return isInside ? [`safe.directory=${top}`] : [];
}

function real(folder: string): string {
  return existsSync(folder) ? `${realpathSync(folder)}${sep}` : `${folder}${sep}`;
}

/**
 * The `git` for a work tree and its submodules. npx puts node_modules/.bin of the current folder first on the path, and a
 * repository can hold such a folder, or be named by a link.
 */
export function findGit(top: string): string {
  const name = process.platform === 'win32' ? 'git.exe' : 'git';
  let outermost = realpathSync.native(top);
  // A submodule lies in another work tree.
  for (let above = outermost; above !== dirname(above); above = dirname(above))
    if (existsSync(join(above, '.git'))) outermost = above;
  const isTrusted = (path: string) =>
    !`${path}${sep}`.startsWith(`${outermost}${sep}`) && !/[\\/]node_modules[\\/]/.test(path);
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(isAbsolute)) {
    const program = join(folder, name);
    if (
      isProgram(program) &&
      [program, `${realpathSync.native(folder)}${sep}`, realpathSync.native(program)].every(isTrusted)
    )
      return program;
  }
  throw new Failure('usage', 'The folder is in a git repository that cannot be read: git is not installed.');
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
