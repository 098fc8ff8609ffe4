import { ArchiveProblem } from '../../../lib/archives/archive-problem.ts';
import { checkName, findClashes } from '../../../lib/archives/names.ts';
import type { Problem } from '../failure.ts';
import { printable } from '../printable.ts';
import { limits } from './limits.ts';

/** All paths that the registry would reject after the upload, by its own rules, and those that must not be packed. */
export function pathProblems(paths: readonly string[]): Problem[] {
  const problems = paths.flatMap((path) => {
    const message = ownProblem(path) ?? registryProblem(path);
    return message === undefined ? [] : [{ path: printable(path), message }];
  });
  const clashes = [...findClashes(paths)].map(({ name, problem }) => ({
    path: printable(name),
    message: problem.sentence,
  }));
  return [...problems, ...clashes, ...countProblems(paths.length)];
}

/** A folder of git makes git run what its configuration says. File systems read other spellings as its name, too. */
export function isOfGit(path: string): boolean {
  return path
    .replaceAll(/\p{Cf}/gu, '')
    .split('/')
    .some((segment) => /^(?:\.git|git~\d+)[. ]*$/i.test(segment));
}

function ownProblem(path: string): string | undefined {
  if (isOfGit(path)) return 'belongs to git. Leave it out.';
  return path === '__proto__' ? 'has a name that cannot be packed. Rename it.' : undefined;
}

function registryProblem(path: string): string | undefined {
  try {
    checkName(path);
    return undefined;
  } catch (error) {
    if (error instanceof ArchiveProblem) return error.sentence;
    throw error;
  }
}

function countProblems(count: number): Problem[] {
  if (count <= limits.entries) return [];
  return [
    { path: `${count} files`, message: `are too many: ${limits.entries} are allowed. Leave some out.` },
  ];
}
