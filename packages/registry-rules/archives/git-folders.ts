import { ArchiveProblem, quote } from './archive-problem.ts';
import { foldCase, withoutIgnorable } from './names.ts';

/** The names that make a folder a repository. Some systems accept a file in the place of a folder. */
const ofRepository = /(?<![^/])(?:HEAD|OBJECTS|REFS|COMMONDIR)(?![^/])/g;

interface Found {
  folder: string;
  parts: Set<string>;
}

/** Rejects an archive with a folder that git treats as a repository although it is not named `.git`. */
export function rejectGitFolders(names: readonly string[]): void {
  for (const { problem } of findGitFolders(names)) throw problem;
}

/**
 * Finds these folders. In such a folder or below it, git runs the programs that its configuration names. The file
 * `commondir` contains the path of the folder with the rest of the repository.
 */
export function* findGitFolders(
  names: readonly string[],
): Generator<{ folder: string; problem: ArchiveProblem }> {
  const folders = new Map<string, Found>();
  for (const name of names) {
    const folded = foldCase(withoutIgnorable(name));
    for (const { 0: part, index } of folded.matchAll(ofRepository)) {
      const key = folded.slice(0, index);
      const found = folders.get(key) ?? { folder: firstFolders(name, key), parts: new Set() };
      folders.set(key, found);
      found.parts.add(part);
    }
  }
  for (const { folder, parts } of folders.values()) {
    const isRepository =
      parts.has('HEAD') && (parts.has('COMMONDIR') || (parts.has('OBJECTS') && parts.has('REFS')));
    if (isRepository) yield { folder: folder === '' ? '.' : folder, problem: problemOf(folder) };
  }
}

/** Folding can change the length of a name, but not the number of its folders. */
function firstFolders(name: string, folded: string): string {
  const depth = folded.split('/').length - 1;
  return name.split('/', depth).join('/');
}

function problemOf(folder: string): ArchiveProblem {
  const which = folder === '' ? 'its top folder' : `the folder ${quote(folder)}`;
  return new ArchiveProblem(
    `git takes ${which} for a repository, by the names in it (HEAD, objects and refs, or commondir), and runs what such a folder configures. Leave it out, or zip it as a file.`,
  );
}
