import { stat } from 'node:fs/promises';
import { didYouMean } from './did-you-mean.ts';
import { createRegistryClient, type Published, type RegistryClient } from '../registry-client/client.ts';
import { exitCodes, Failure, together } from './failure.ts';
import { chooseFiles, type Pack, pack } from './files/pack.ts';
import type { FoundHostNodes } from './extraction.ts';
import { hostNodeLines, hostNodesResult } from './host-nodes.ts';
import { type Identity, identityOf, type identities } from './identity.ts';
import { type Mean, print, say } from './output.ts';
import { megabytes, progressBar, remind } from './progress.ts';
import {
  type Metadata,
  metadataNotes,
  type Project,
  meantBy,
  readMetadata,
  requestOf,
  requireProject,
} from './project.ts';
import { hostNodesLine, readByRegistry, waitForHostNodes } from './read-by-registry.ts';
import { uploadShowing } from './upload.ts';

export interface PublishFlags {
  metadata: Metadata;
  include: string[];
  allow: string[];
  identity: (typeof identities)[number];
  token: string | undefined;
  accessToken: string | undefined;
  audience: string | undefined;
  baseUrl: string;
  timeoutMs: number;
  dryRun: boolean;
  json: boolean;
}

const commandNames = ['publish', 'status', 'init'];

export async function publishCommand(folder: string, flags: PublishFlags, mean: Mean): Promise<number> {
  await requireFolder(folder);
  const read = await readMetadata(folder, flags.metadata);
  mean(meantBy(read));
  const { includes = [], allow = [] } = read.metadata;
  const choice = { includes: [...includes, ...flags.include], allow: [...allow, ...flags.allow] };
  // Before anything is packed: a job without a token should not find that out after minutes.
  const [project, chosen, identity] = await together(
    requireProject(read),
    chooseFiles(folder, choice),
    flags.dryRun ? Promise.resolve(undefined) : identityOf(wish(flags), process.env),
  );
  const { files, unpackedBytes } = chosen;
  say(`Packing ${files.length} ${files.length === 1 ? 'file' : 'files'}, ${megabytes(unpackedBytes)}.`);
  const packed = pack(chosen);
  for (const note of [...packed.notes, ...metadataNotes(project)]) say(note);
  if (identity === undefined) {
    const found = await readHostNodes(project, packed);
    print(flags.json, { ...plan(project, packed), ...hostNodesResult(found) }, [
      ...planLines(project, packed),
      ...hostNodeLines(found),
      'Nothing was sent.',
    ]);
    return exitCodes.done;
  }
  const what = `${project.node} ${project.version} of ${project.publisher}`;
  say(`Publishing ${what}, ${megabytes(packed.archive.length)} zipped, as ${identity.about}.`);
  const { baseUrl } = flags;
  const { accessToken } = identity;
  const registry = createRegistryClient({ baseUrl, ...(accessToken && { accessToken }) });
  const published = await send(registry, project, packed, identity, flags);
  // It is published now: what becomes of its host nodes changes no exit code.
  const found = await readHostNodes(project, packed).catch(() => undefined);
  const version = await waitForHostNodes(registry, project, published.version);
  const report = { ...result(project, packed, published), node_version: version };
  print(flags.json, { ...report, ...readByRegistry(version, found) }, [
    `${project.node} ${project.version} ${published.wasPublished ? 'was published already' : 'is published'}.`,
    `download  ${published.version.downloadUrl}`,
    `sha256    ${packed.sha256}`,
    hostNodesLine(project, version, found),
  ]);
  return exitCodes.done;
}

async function readHostNodes({ node }: Project, { contents }: Pack): Promise<FoundHostNodes> {
  const { hostNodesOf } = await import('./extraction.ts');
  return hostNodesOf(contents, node);
}

/** The command's name may be left out, so a misspelled one arrives here as a folder. */
async function requireFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch(() => undefined);
  if (stats?.isDirectory()) return;
  throw new Failure('usage', `There is no folder "${folder}".${didYouMean(folder, commandNames)}`);
}

function wish({ identity, token, accessToken, audience, baseUrl }: PublishFlags) {
  return { identity, token, accessToken, audience: audience ?? baseUrl };
}

async function send(
  registry: RegistryClient,
  project: Project,
  { archive }: Pack,
  { personalAccessToken }: Identity,
  { timeoutMs }: PublishFlags,
): Promise<Published> {
  const bar = progressBar(process.stderr, archive.length);
  const upload = uploadShowing(bar.show);
  let stop = () => {};
  const onStep = (step: string) => {
    if (step === 'uploading') say('Uploading.');
    if (step !== 'checking') return;
    say('Waiting until the registry has checked it.');
    stop = remind(process.stderr, 'The registry is still checking it.');
  };
  return registry
    .publish(
      { ...requestOf(project), personalAccessToken, archive },
      {
        waitMs: timeoutMs,
        onStep,
        upload: (...args) => upload(...args).finally(bar.finish),
      },
    )
    .finally(() => stop());
}

function result(
  project: Project,
  { archive, files, sha256, unpackedBytes, chosenBy, notes }: Pack,
  { version, wasPublished }: Published,
) {
  return {
    publisher: project.publisher,
    node: project.node,
    version: project.version,
    status: wasPublished ? 'already_published' : 'published',
    download_url: version.downloadUrl,
    sha256,
    archive_bytes: archive.length,
    unpacked_bytes: unpackedBytes,
    chosen_by: chosenBy,
    notes,
    files,
  };
}

function plan(project: Project, { archive, files, sha256, unpackedBytes, chosenBy, notes }: Pack) {
  return {
    publisher: project.publisher,
    node: project.node,
    version: project.version,
    status: 'dry_run',
    sha256,
    archive_bytes: archive.length,
    unpacked_bytes: unpackedBytes,
    chosen_by: chosenBy,
    notes,
    files,
  };
}

const shownLargest = 10;

function planLines(project: Project, { archive, files, unpackedBytes, chosenBy }: Pack): string[] {
  const largest = files.toSorted((a, b) => b.bytes - a.bytes).slice(0, shownLargest);
  return [
    ...files.map(({ path }) => path),
    '',
    'The largest:',
    ...largest.map(({ path, bytes }) => `${megabytes(bytes).padStart(10)}  ${path}`),
    '',
    `node       ${project.node}`,
    `version    ${project.version}`,
    `publisher  ${project.publisher}`,
    `files      ${files.length}, chosen by ${chosenBy}`,
    `size       ${megabytes(unpackedBytes)}, ${megabytes(archive.length)} zipped`,
  ];
}
