import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Zippable, zipSync } from 'fflate';
import { Failure, type Problem } from '../failure.ts';
import { megabytes } from '../progress.ts';
import { limits } from './limits.ts';
import { type FileList, listFiles } from './list-files.ts';
import { pathProblems } from './path-rules.ts';
import { secretIn } from './secrets.ts';

interface PackedFile {
  path: string;
  bytes: number;
}

export interface Pack extends Pick<FileList, 'chosenBy' | 'notes'> {
  archive: Uint8Array;
  sha256: string;
  files: PackedFile[];
  unpackedBytes: number;
}

interface Choice {
  includes?: readonly string[] | undefined;
  allow?: readonly string[] | undefined;
  /** Hears how much is to be packed, which can take a while. */
  onChosen?: (files: number, bytes: number) => void;
}

/** A zip's own times have no time zone; with one time for all, the same files give the same bytes everywhere. */
const mtime = new Date(2000, 0, 1);
const unix = 3;

/**
 * The archive of a folder, once nothing in it would be refused. It is compressed by a library, not by Node's zlib,
 * whose output differs between processors: a second run elsewhere must be able to tell that it is published already.
 */
export async function pack(folder: string, { includes = [], allow = [], onChosen }: Choice): Promise<Pack> {
  const { paths, chosenBy, notes } = await listFiles(folder, includes);
  if (paths.length === 0) throw new Failure('usage', `There are no files to publish in "${folder}".`);
  refuse(
    'The registry would refuse these paths. A .publishignore file leaves things out.',
    pathProblems(paths),
  );
  const root = await realpath(folder);
  const files = await sizesOf(root, paths);
  const unpackedBytes = files.reduce((total, { bytes }) => total + bytes, 0);
  if (unpackedBytes > limits.unpackedBytes) throw tooLarge(unpackedBytes, limits.unpackedBytes, 'unpacked');
  onChosen?.(files.length, unpackedBytes);
  const contents = await readAll(root, paths, new Set(allow));
  const archive = zipSync(contents, { level: 6, mtime, os: unix });
  if (archive.length > limits.archiveBytes) throw tooLarge(archive.length, limits.archiveBytes, 'zipped');
  if (unpackedBytes > archive.length * limits.unpackedRatio) {
    throw new Failure(
      'usage',
      `The archive would unpack to more than ${limits.unpackedRatio} times its size. Leave out files that are mostly empty.`,
    );
  }
  const sha256 = createHash('sha256').update(archive).digest('hex');
  return { archive, sha256, files, unpackedBytes, chosenBy, notes };
}

async function sizesOf(root: string, paths: readonly string[]): Promise<PackedFile[]> {
  return Promise.all(paths.map(async (path) => ({ path, bytes: (await stat(join(root, path))).size })));
}

async function readAll(
  root: string,
  paths: readonly string[],
  allow: ReadonlySet<string>,
): Promise<Zippable> {
  const entries: Zippable = {};
  const problems: Problem[] = [];
  for (const path of paths) {
    const place = join(root, path);
    const content = await readFile(place);
    const secret = allow.has(path) ? undefined : secretIn(path, content);
    if (secret !== undefined) problems.push({ path, message: secret });
    const isExecutable = ((await stat(place)).mode & 0o100) !== 0;
    entries[path] = [content, { attrs: (isExecutable ? 0o100755 : 0o100644) << 16 }];
  }
  refuse(
    'These files look like secrets. Leave them out with .publishignore, or name each: --allow PATH.',
    problems,
  );
  return entries;
}

function refuse(sentence: string, problems: readonly Problem[]): void {
  if (problems.length > 0) throw new Failure('usage', sentence, { problems });
}

function tooLarge(bytes: number, allowed: number, how: string): Failure {
  return new Failure(
    'usage',
    `The files have ${megabytes(bytes)} ${how}, and ${megabytes(allowed)} are allowed. Leave large ones out.`,
  );
}
