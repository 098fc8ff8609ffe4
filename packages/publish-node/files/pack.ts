import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Zippable, zipSync } from 'fflate';
import { archiveLimits } from '@node-registry/registry-rules/archives/limits';
import { didYouMean } from '../did-you-mean.ts';
import { Failure, type Problem, rejection, throwAll } from '../failure.ts';
import { megabytes } from '../progress.ts';
import { encryptedByGit } from './git-settings.ts';
import { type FileList, listFiles } from './list-files.ts';
import { importsOfLeftOut } from './python-imports.ts';
import { type OwnFile, readOwnFile } from './own-file.ts';
import { secretIn } from './secrets.ts';
import { ArchiveProblem } from '@node-registry/registry-rules/archives/archive-problem';
import { checkName, findClashes, findGitFolders } from '@node-registry/registry-rules/archives/names';
import { printable } from '../printable.ts';

export interface PackedFile {
  path: string;
  bytes: number;
  /** How it differs from git's version. */
  git?: GitState;
}

export interface Chosen extends Pick<FileList, 'chosenBy' | 'notes' | 'leftOut'> {
  files: PackedFile[];
  unpackedBytes: number;
  contents: Map<string, OwnFile>;
}

export interface Pack extends Chosen {
  archive: Uint8Array;
  sha256: string;
}

interface Choice {
  includes?: readonly string[] | undefined;
  allow?: readonly string[] | undefined;
}

/** A zip's times have no time zone; with one fixed time, the same files give the same bytes everywhere. */
const mtime = new Date(2000, 0, 1);
const unix = 3;

/** The files to publish from a folder, or all reasons against it. */
export async function chooseFiles(folder: string, { includes = [], allow = [] }: Choice): Promise<Chosen> {
  const { paths, chosenBy, notes, leftOut, objects, failures } = await listFiles(folder, includes);
  if (paths.length === 0 && failures.length === 0) {
    throw new Failure('usage', `There are no files to publish in "${folder}".`);
  }
  const root = await realpath(folder);
  const readable = paths.filter((path) => !path.includes('\uFFFD'));
  const sized = sizesOf(root, readable);
  const unpackedBytes = sized.reduce((total, { bytes }) => total + bytes, 0);
  const isTooLarge = unpackedBytes > archiveLimits.unpackedBytes;
  const isEncrypted = await encryptedByGit(root, [...paths, ...(objects?.keys() ?? [])]);
  const looks = { allow: new Set(allow), objects, isEncrypted };
  const { contents, states, secrets, pointers } = await readAll(root, isTooLarge ? [] : readable, looks);
  const imports = importsOfLeftOut(contents, leftOut);
  const broken = imports.filter(({ path, isGuarded }) => !isGuarded && !looks.allow.has(path));
  throwAll([
    ...failures,
    ...rejection(
      'The registry would reject these paths. Exclude them with .publishignore.',
      pathProblems(paths),
    ),
    ...(isTooLarge ? [tooLarge(sized, unpackedBytes, archiveLimits.unpackedBytes, 'unpacked')] : []),
    ...rejection(pointersSentence, pointers),
    ...rejection(
      'These files look like secrets. Leave them out with .publishignore, or name each: --allow PATH.',
      secrets,
    ),
    ...rejection(brokenSentence, broken),
    ...rejection('These allow entries match no published file.', unusedEntries(allow, paths)),
  ]);
  const files = sized.map(({ path, bytes }): PackedFile => {
    const state = states.get(path);
    return { path, bytes, ...(state && { git: state }) };
  });
  const others = imports.filter((problem) => !broken.includes(problem));
  const said = [...notes, ...others.map(({ path, message }) => `${path} ${message}`)];
  return { files, unpackedBytes, chosenBy, notes: said, leftOut, contents };
}

/**
 * Compressed by a library: the output of Node's zlib differs between processors, and a second run elsewhere
 * must recognize the published archive.
 */
export function pack(chosen: Chosen): Pack {
  const entries: Zippable = {};
  for (const [path, { content, isExecutable }] of chosen.contents) {
    entries[path] = [content, { attrs: (isExecutable ? 0o100755 : 0o100644) << 16 }];
  }
  const archive = zipSync(entries, { level: 6, mtime, os: unix });
  if (archive.length > archiveLimits.archiveBytes)
    throw tooLarge(chosen.files, archive.length, archiveLimits.archiveBytes, 'zipped');
  if (chosen.unpackedBytes > archive.length * archiveLimits.unpackedRatio) {
    throw new Failure(
      'usage',
      `The archive would unpack to more than ${archiveLimits.unpackedRatio} times its size. Leave out files that are mostly empty.`,
    );
  }
  return { ...chosen, archive, sha256: createHash('sha256').update(archive).digest('hex') };
}

/** The most hints: each compares every path. */
const maxHints = 20;

function unusedEntries(allow: readonly string[], paths: readonly string[]): Problem[] {
  const published = new Set(paths);
  const unused = allow.filter((entry) => !published.has(entry));
  const hint = (entry: string, at: number) => (at < maxHints ? didYouMean(entry, paths) : '');
  return unused.map((entry, at) => ({ path: entry, message: `matches nothing.${hint(entry, at)}` }));
}

function sizesOf(root: string, paths: readonly string[]): PackedFile[] {
  return paths.map((path) => ({ path, bytes: statSync(join(root, path)).size }));
}

interface Looks extends Pick<FileList, 'objects'> {
  allow: ReadonlySet<string>;
  isEncrypted: (path: string) => boolean;
}

async function readAll(root: string, paths: readonly string[], { allow, objects, isEncrypted }: Looks) {
  const contents = new Map<string, OwnFile>();
  const states = new Map<string, GitState>();
  const secrets: Problem[] = [];
  const pointers: Problem[] = [];
  for (const path of paths) {
    const file = await readOwnFile(root, path, archiveLimits.unpackedBytes);
    if (file === undefined)
      throw new Failure('usage', `${path} has changed while it was read. Run it again.`);
    contents.set(path, file);
    const state = objects && stateOf(join(root, path), file.content, objects.get(path));
    states.set(path, state);
    if (allow.has(path)) continue;
    const isDecrypted = state !== undefined && isEncrypted(path);
    const secret = isDecrypted ? 'is encrypted in git, and readable here.' : secretIn(path, file.content);
    if (secret !== undefined) secrets.push({ path, message: secret });
    if (isLfsPointer(file.content)) pointers.push({ path, message: 'is a pointer.' });
  }
  return { contents, states, secrets, pointers };
}

/** For a link, git stores the name of its target. */
function stateOf(path: string, content: Buffer, object: string | undefined): GitState {
  const state = gitStateOf(content, object);
  if (state !== 'modified' || !lstatSync(path).isSymbolicLink()) return state;
  return gitStateOf(Buffer.from(readlinkSync(path)), object);
}

const brokenSentence =
  'These files import what is left out, so the published version would not work. Publish that with --include PATH, or name the importing file: --allow PATH.';

const pointersSentence =
  'These files are Git LFS pointers instead of the files themselves. Run git lfs pull. In a job, give actions/checkout "lfs: true", or unset GIT_LFS_SKIP_SMUDGE.';

const maxListed = 10;

export function largestOf(files: readonly PackedFile[]): PackedFile[] {
  return files.toSorted((a, b) => b.bytes - a.bytes).slice(0, maxListed);
}

function tooLarge(files: readonly PackedFile[], bytes: number, allowed: number, how: string): Failure {
  const sentence = `The files have ${megabytes(bytes)} ${how}, and ${megabytes(allowed)} are allowed. Leave large ones out.`;
  const problems = largestOf(files).map((file) => ({ path: file.path, message: megabytes(file.bytes) }));
  return new Failure('usage', sentence, { problems });
}

/** How a file differs from git's version; undefined if it doesn't. */
type GitState = 'untracked' | 'modified' | undefined;

/**
 * Git would compare after running the repository's filters, which are programs. So this computes the object
 * itself: of the bytes, of the bytes with git's line ends, and of the Git LFS pointer.
 */
function gitStateOf(content: Buffer, object: string | undefined): GitState {
  if (object === undefined) return 'untracked';
  const isObject = (bytes: Buffer) => objectOf(bytes, object.length) === object;
  if (isObject(content)) return undefined;
  if (content.includes('\r\n') && isObject(withUnixLineEnds(content))) return undefined;
  return isObject(lfsPointer(content)) ? undefined : 'modified';
}

function objectOf(bytes: Buffer, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

function withUnixLineEnds(content: Buffer): Buffer {
  return Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}

const lfsVersion = 'version https://git-lfs.github.com/spec/v1\n';

function lfsPointer(content: Buffer): Buffer {
  const digest = createHash('sha256').update(content).digest('hex');
  return Buffer.from(`${lfsVersion}oid sha256:${digest}\nsize ${content.length}\n`);
}

/** A file whose content Git LFS has not fetched. */
function isLfsPointer(content: Buffer): boolean {
  return content.length < 1024 && content.subarray(0, lfsVersion.length).equals(Buffer.from(lfsVersion));
}

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
