import {
  type Published,
  type RegistryClient,
  RegistryError,
  type Upload,
} from '@node-registry/registry-client';
import { connect, connectWithTokens } from './connect.ts';
import type { FoundHostNodes } from './extraction.ts';
import { explain, Failure, type Hints } from './failure.ts';
import type { Pack } from './files/pack.ts';
import {
  hostNodeLines,
  hostNodesLine,
  hostNodesResult,
  readByRegistry,
  waitForHostNodes,
} from './host-nodes.ts';
import { type IdentityFlags, identityOf, type PersonalToken } from './identity.ts';
import { write } from './new-file.ts';
import { type Ending, type Mean, say, terminal } from './output.ts';
import { withPersonalToken } from './own-token.ts';
import { packReport, type Plan, type PlanFlags, planLines, planOf } from './plan.ts';
import { megabytes, progressBar } from './progress.ts';
import { type Project, requestOf } from './project.ts';
import { uploadShowing } from './upload.ts';

export interface PublishFlags extends PlanFlags, IdentityFlags {
  /** Seconds. */
  timeout: number;
  dryRun: boolean;
}

/** Ctrl-C aborts the signal. The sentence says what state things are in then, and what to do. */
interface Run {
  signal: AbortSignal;
  stopped: string;
}

export async function publishCommand(folder: string, flags: PublishFlags, mean: Mean): Promise<Ending> {
  const controller = new AbortController();
  const { signal } = controller;
  const run = {
    signal,
    stopped: 'Stopped before the upload: nothing was published. To publish it, run the same command again.',
  };
  const stop = () => controller.abort();
  process.once('SIGINT', stop);
  try {
    return await publishFolder(folder, flags, mean, run);
  } catch (error) {
    throw signal.aborted ? new Failure('interrupted', run.stopped) : error;
  } finally {
    process.off('SIGINT', stop);
  }
}

/** For work that takes no signal: it ends with the process. */
function unlessStopped<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    signal.throwIfAborted();
    signal.addEventListener('abort', reject);
  });
}

async function publishFolder(folder: string, flags: PublishFlags, mean: Mean, run: Run): Promise<Ending> {
  const planned = planOf(folder, flags, mean, async () => {
    if (flags.dryRun) return undefined;
    const identity = await identityOf(flags, process.env);
    return { identity, registry: connectWithTokens(flags, identity.accessToken) };
  });
  const { other, ...plan } = await unlessStopped(run.signal, planned);
  const { project, packed } = plan;
  if (other === undefined) return unlessStopped(run.signal, dryRun(plan));
  const { identity, registry } = other;
  const what = `${project.node} ${project.version} of ${project.publisher}`;
  say(`Publishing ${what}, ${megabytes(packed.archive.length)} zipped, as ${identity.about}.`);
  const sending = (token: PersonalToken, keep: () => void) =>
    send(registry, project, packed, { token, keep, hints: identity.hints }, flags, run);
  const published = await withPersonalToken(registry, identity, project, sending, run.signal);
  run.stopped = `Stopped. ${what} is published.`;
  // A failure with its host nodes changes no exit code.
  const reading = readHostNodes(project, packed).catch(() => undefined);
  const found = await unlessStopped(run.signal, reading);
  const waiting = waitForHostNodes(registry, project, published.version);
  const version = await unlessStopped(run.signal, waiting);
  return {
    report: {
      ...packReport(plan),
      status: published.wasPublished ? 'already_published' : 'published',
      download_url: published.version.downloadUrl,
      node_version: version,
      ...readByRegistry(version, found),
    },
    lines: [
      `${project.node} ${project.version} ${published.wasPublished ? 'was published already' : 'is published'}.`,
      `download  ${published.version.downloadUrl}`,
      `sha256    ${packed.sha256}`,
      hostNodesLine(project, version, found),
    ],
  };
}

async function dryRun(plan: Plan): Promise<Ending> {
  const found = await readHostNodes(plan.project, plan.packed);
  return {
    report: { ...packReport(plan), status: 'dry_run', ...hostNodesResult(found) },
    lines: [...planLines(plan), ...hostNodeLines(found), 'Nothing was sent.'],
  };
}

async function readHostNodes({ node }: Project, { contents }: Pack): Promise<FoundHostNodes> {
  const { hostNodesOf } = await import('./extraction.ts');
  return hostNodesOf(contents, node);
}

/** Who has the id, perhaps in another spelling; anyone can read it, if the registry's files are known. */
async function holderOf(error: unknown, node: string, baseUrl: string, signal: AbortSignal): Promise<string> {
  const downloadsUrl = process.env.NODE_REGISTRY_DOWNLOADS_URL;
  const isTaken = error instanceof RegistryError && ['node_id_taken', 'forbidden'].includes(error.code);
  if (!isTaken || !downloadsUrl) return '';
  const found = await connect({ baseUrl, downloadsUrl })
    .nodes.get(node, { signal })
    .catch(() => undefined);
  return found ? `"${found.id}" is a node of "${found.publisher?.id}".` : '';
}

/** Codes of the registry's final word on an archive. */
const decisions = ['archive_rejected', 'version_closed', 'published_with_other_bytes'];

async function send(
  registry: RegistryClient,
  project: Project,
  { archive }: Pack,
  { token: personalAccessToken, keep, hints }: { token: PersonalToken; keep: () => void; hints: Hints },
  { timeout, baseUrl }: PublishFlags,
  run: Run,
): Promise<Published> {
  const allHints = {
    node_id_taken: `To put back a node of yours that is withdrawn: publish-node restore ${project.node}`,
    ...hints,
  };
  const bar = progressBar(terminal, archive.length);
  const upload = uploadShowing(bar.show);
  let isSent = false;
  const onStep = (step: string) => {
    if (step === 'uploading') {
      isSent = true;
      say('Uploading.');
      run.stopped = 'Stopped during the upload. To finish it, run the same command again.';
    }
    if (step === 'checking') {
      say(`Waiting up to ${timeout} seconds until the registry has checked it.`);
      const status = `publish-node status ${project.node}@${project.version}`;
      run.stopped = `Stopped. The registry has the archive, and checks it. To see the result: ${status}`;
    }
  };
  const input = { ...requestOf(project), personalAccessToken, archive };
  const sent: Upload = (...args) => upload(...args).finally(bar.finish);
  const { signal } = run;
  return registry
    .publish(input, { waitMs: timeout * 1000, onStep, upload: sent, signal })
    .catch(async (error: unknown) => {
      bar.finish();
      // The registry may check the archive later, and rejects it if its token has ended.
      if (isSent && !decisions.includes(Object(error).code)) keep();
      return explain(allHints, await holderOf(error, project.node, baseUrl, signal))(error);
    });
}

interface PackFlags extends PlanFlags {
  output: string | undefined;
}

/** Writes the archive for inspection; an existing file stays. */
export async function packCommand(folder: string, flags: PackFlags, mean: Mean): Promise<Ending> {
  const plan = await planOf(folder, flags, mean, async () => undefined);
  const { node, version } = plan.project;
  const file = flags.output ?? `${node}-${version}.zip`;
  await write(file, plan.packed.archive);
  return {
    report: { ...packReport(plan), status: 'packed' },
    lines: [...planLines(plan), `sha256     ${plan.packed.sha256}`, `Wrote ${file}. Nothing was sent.`],
  };
}
