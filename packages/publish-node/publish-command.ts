import {
  type Published,
  type RegistryClient,
  RegistryError,
  type Upload,
} from '@node-registry/registry-client';
import { connect, connectWithTokens } from './connect.ts';
import type { FoundHostNodes } from './extraction.ts';
import { exitCodes, explain, type Hints } from './failure.ts';
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
import { endOwnToken, withPersonalToken } from './own-token.ts';
import { packReport, type Plan, type PlanFlags, planLines, planOf } from './plan.ts';
import { megabytes, progressBar } from './progress.ts';
import { type Project, requestOf } from './project.ts';
import { uploadShowing } from './upload.ts';

export interface PublishFlags extends PlanFlags, IdentityFlags {
  /** Seconds. */
  timeout: number;
  dryRun: boolean;
}

export async function publishCommand(folder: string, flags: PublishFlags, mean: Mean): Promise<Ending> {
  const { other, ...plan } = await planOf(folder, flags, mean, async () => {
    if (flags.dryRun) return undefined;
    const identity = await identityOf(flags, process.env);
    return { identity, registry: connectWithTokens(flags, identity.accessToken) };
  });
  const { project, packed } = plan;
  if (other === undefined) return dryRun(plan);
  const { identity, registry } = other;
  const what = `${project.node} ${project.version} of ${project.publisher}`;
  say(`Publishing ${what}, ${megabytes(packed.archive.length)} zipped, as ${identity.about}.`);
  const published = await withPersonalToken(registry, identity, project, (token) =>
    send(registry, project, packed, { token, hints: identity.hints }, flags),
  );
  // It is published now: a failure with its host nodes changes no exit code.
  const found = await readHostNodes(project, packed).catch(() => undefined);
  const version = await waitForHostNodes(registry, project, published.version);
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
async function holderOf(error: unknown, node: string, baseUrl: string): Promise<string> {
  const downloadsUrl = process.env.NODE_REGISTRY_DOWNLOADS_URL;
  const isTaken = error instanceof RegistryError && ['node_id_taken', 'forbidden'].includes(error.code);
  if (!isTaken || !downloadsUrl) return '';
  const found = await connect({ baseUrl, downloadsUrl })
    .nodes.get(node)
    .catch(() => undefined);
  return found ? `"${found.id}" is a node of "${found.publisher?.id}".` : '';
}

async function send(
  registry: RegistryClient,
  project: Project,
  { archive }: Pack,
  { token: personalAccessToken, hints }: { token: PersonalToken; hints: Hints },
  { timeout, baseUrl }: PublishFlags,
): Promise<Published> {
  const allHints = {
    node_id_taken: `To put back a node of yours that is withdrawn: publish-node restore ${project.node}`,
    ...hints,
  };
  const bar = progressBar(terminal, archive.length);
  const upload = uploadShowing(bar.show);
  const onStep = (step: string) => {
    if (step === 'uploading') say('Uploading.');
    if (step === 'checking') say(`Waiting up to ${timeout} seconds until the registry has checked it.`);
  };
  const interrupt = async () => {
    bar.finish();
    say('Stopped. Run the same command again: it resumes where this one was.');
    await endOwnToken();
    process.exit(exitCodes.interrupted);
  };
  process.once('SIGINT', interrupt);
  try {
    const input = { ...requestOf(project), personalAccessToken, archive };
    const sent: Upload = (...args) => upload(...args).finally(bar.finish);
    return await registry
      .publish(input, { waitMs: timeout * 1000, onStep, upload: sent })
      .catch(async (error: unknown) =>
        explain(allHints, await holderOf(error, project.node, baseUrl))(error),
      );
  } finally {
    process.off('SIGINT', interrupt);
  }
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
