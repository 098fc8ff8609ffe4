import { together } from './failure.ts';
import { countOf } from './files/left-out.ts';
import { sectionOf } from './changelog.ts';
import { type Chosen, chooseFiles, largestOf, type Pack, type PackedFile, pack } from './files/pack.ts';
import { type Mean, say } from './output.ts';
import { megabytes } from './progress.ts';
import {
  meantBy,
  metadataNotes,
  type Project,
  readMetadata,
  requireFolder,
  requireProject,
  versionFailures,
} from './project.ts';
import type { Metadata } from './pyproject.ts';

export interface PlanFlags {
  metadata: Metadata;
  include: string[];
  allow: string[];
  /** Publish the version of the command line although pyproject.toml names another one. */
  otherVersion?: boolean | undefined;
}

/** A folder as a version: its published files, and their names. */
export interface Plan {
  project: Project;
  packed: Pack;
  notes: string[];
}

/** Reads and packs a folder while another step, such as fetching a token, runs. Reports all failures. */
export async function planOf<Other>(
  folder: string,
  flags: PlanFlags,
  mean: Mean,
  other: () => Promise<Other>,
): Promise<Plan & { other: Other }> {
  const root = await requireFolder(folder);
  const read = await readMetadata(root, flags.metadata);
  mean(meantBy(read));
  const { includes = [], allow = [] } = read.metadata;
  const choice = { includes: [...includes, ...flags.include], allow: [...allow, ...flags.allow] };
  const mismatch = flags.otherVersion ? [] : versionFailures(read, flags.metadata, process.env);
  // Before anything is packed: a job without a token should learn that at once, not after minutes.
  const [project, chosen, found] = await together(
    requireProject(read, mismatch),
    chooseFiles(root, choice),
    other(),
  );
  const { files, unpackedBytes } = chosen;
  say(`Packing ${files.length} ${files.length === 1 ? 'file' : 'files'}, ${megabytes(unpackedBytes)}.`);
  const packed = pack(chosen);
  const changelog = changelogIn(chosen, project);
  const said =
    changelog === undefined ? [] : [`The change log is the part on ${project.version} of CHANGELOG.md.`];
  const notes = [...packed.notes, ...gitNotes(files), ...metadataNotes(project), ...said];
  const more = notes.length - maxNotes;
  say(...notes.slice(0, maxNotes), ...(more > 0 ? [`and ${more} more notes.`] : []));
  return { project: { ...project, ...(changelog && { changelog }) }, packed, notes, other: found };
}

const maxChangelogBytes = 100_000;

function changelogIn({ contents }: Chosen, { changelog, version }: Project): string | undefined {
  const [, file] = [...contents].find(([path]) => /^changelog\.md$/i.test(path)) ?? [];
  if (changelog !== undefined || file === undefined || file.content.length > 10 * maxChangelogBytes)
    return undefined;
  const section = sectionOf(file.content.toString(), version);
  return section !== undefined && section.length <= maxChangelogBytes ? section : undefined;
}

const maxNames = 5;

/** A call with very many arguments fails. */
const maxNotes = 100;

function gitNotes(files: readonly PackedFile[]): string[] {
  const named = (state: PackedFile['git'], what: string) => {
    const paths = files.filter(({ git }) => git === state).map(({ path }) => path);
    if (paths.length === 0) return [];
    const more = paths.length > maxNames ? ` and ${paths.length - maxNames} more` : '';
    return [`${what}: ${paths.slice(0, maxNames).join(', ')}${more}.`];
  };
  return [
    ...named('untracked', 'Published, but not in git'),
    ...named('modified', 'Published with uncommitted changes'),
  ];
}

export function packReport({ project, packed, notes }: Plan) {
  const { archive, files, sha256, unpackedBytes, chosenBy, leftOut } = packed;
  return {
    publisher: project.publisher,
    node: project.node,
    version: project.version,
    sha256,
    archive_bytes: archive.length,
    unpacked_bytes: unpackedBytes,
    chosen_by: chosenBy,
    notes,
    files,
    left_out: leftOut.map(({ path, rule, files: { length } }) => ({ path, rule, files: length })),
  };
}

const marks = { untracked: '  (not in git)', modified: '  (with uncommitted changes)' };

export function planLines({ project, packed }: Plan): string[] {
  const { archive, files, unpackedBytes, chosenBy, leftOut } = packed;
  const left = countOf(leftOut);
  return [
    ...files.map(({ path, git }) => `${path}${git === undefined ? '' : marks[git]}`),
    '',
    'The largest:',
    ...largestOf(files).map(({ path, bytes }) => `${megabytes(bytes).padStart(10)}  ${path}`),
    '',
    `node       ${project.node}`,
    `version    ${project.version}`,
    `publisher  ${project.publisher}`,
    `files      ${files.length}, chosen by ${chosenBy}`,
    ...(left > 0 ? [`left out   ${left === 1 ? '1 file' : `${left} files`}, by rules`] : []),
    `size       ${megabytes(unpackedBytes)}, ${megabytes(archive.length)} zipped`,
  ];
}
