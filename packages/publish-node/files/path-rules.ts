import { ArchiveProblem } from '@node-registry/registry-rules/archives/archive-problem';
import { checkName, findClashes, findGitFolders } from '@node-registry/registry-rules/archives/names';
import type { Problem } from '../failure.ts';
import { printable } from '../printable.ts';
import { archiveLimits } from '@node-registry/registry-rules/archives/limits';

/** All paths that the registry would reject after the upload, and those that must not be packed. */
export function pathProblems(paths: readonly string[]): Problem[] {
  const problems = paths.flatMap((path) => {
    const message = ownProblem(path) ?? registryProblem(path);
    return message === undefined ? [] : [{ path: printable(path), message }];
  });
  const clashes = [...findClashes(paths)].map(({ name, problem }) => ({
    path: printable(name),
    message: problem.sentence,
  }));
  const gitFolders = [...findGitFolders(paths)].map(({ folder, problem }) => ({
    path: printable(folder),
    message: problem.sentence,
  }));
  return [...problems, ...clashes, ...gitFolders, ...countProblems(paths.length)];
}

function ownProblem(path: string): string | undefined {
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
  if (count <= archiveLimits.entries) return [];
  return [
    {
      path: `${count} files`,
      message: `are too many: ${archiveLimits.entries} are allowed. Leave some out.`,
    },
  ];
}
