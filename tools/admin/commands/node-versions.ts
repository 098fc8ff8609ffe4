import { compareVersions, normalizeVersion } from '@node-registry/registry-rules/version-label';
import { readAgain, setFlag } from '../registry/node-versions.ts';
import { newContext } from '../registry/administration.ts';
import { aligning } from '../alignment.ts';
import { describeNodeVersion, findVersions, showNode, showNodeVersion } from '../listing.ts';
import { restoreVersion, withdrawVersion } from '../../../lib/registry/edit-version.ts';
import { eachVersion, versionCopy } from '../../../lib/registry/node-versions.ts';
import { type Changed, type NodeVersionRecord, pending } from '../../../lib/registry/records.ts';
import { NodeVersionStatus } from '@node-registry/registry-rules/schemas/node-version';
import { command, type CommandResult, readNamed, textOf, UsageError } from '../command.ts';
import * as bans from '../../../lib/registry/bans.ts';
import { inParts } from '../../../lib/in-parallel.ts';
import { noSuchVersion } from '../../../lib/registry/changes.ts';
import { fieldsOf, shortStatus, tableOf } from '../view.ts';

const reason = {
  value: 'TEXT',
  about: 'The reason, and what to do about it; callers see it as status_reason',
  required: true,
} as const;

export const list = command({
  parameters: ['node'],
  summary: 'List the versions of a node, the highest first',
  readsOnly: true,
  examples: ['node-version list demo-node'],
  async run({ node: nodeId }) {
    const { node } = await showNode(nodeId);
    // All of them may have 240 MB.
    const patient = { deadline: Date.now() + 10 * 60_000 };
    const versions = await Array.fromAsync(eachVersion(patient, nodeId));
    const data = versions
      .sort((a, b) => compareVersions(b.version, a.version))
      .map((each) => ({ ...versionCopy(each), is_latest: each.version === node.latest_version?.version }));
    const columns = ['version', 'is_latest', 'status', 'createdAt', 'id', 'status_reason'];
    return { data, text: tableOf(data, `"${nodeId}" has no versions.`, columns) };
  },
});

const statusNames = NodeVersionStatus.options.map(shortStatus).join(', ');

export const find = command({
  parameters: [],
  summary:
    'List the versions of all nodes with a status, or published with a token or a trust, the oldest first',
  readsOnly: true,
  notes: 'Reads the whole table.',
  options: {
    status: { value: 'STATUS', about: statusNames },
    token: { value: 'ID', about: 'Only those published with this token of token list' },
    trust: { value: 'ID', about: 'Only those published by jobs of this trust of trust list' },
  },
  examples: [
    'node-version find --status pending',
    'node-version find --token 0d5f6c8e-0b7e-4c4e-9d53-0f6b1a0c9b52',
  ],
  async run(_, { status: name = '', token: token_id, trust: trust_id }) {
    const status = NodeVersionStatus.options.find((each) => shortStatus(each) === name);
    if (name !== '' && !status) throw new UsageError(`The status must be one of ${statusNames}.`);
    if (!(status ?? token_id ?? trust_id)) throw new UsageError('Give a status, a token or a trust.');
    const versions = await findVersions({ status, token_id, trust_id });
    const data = versions.map((each) => ({ ...versionCopy(each), publisher_id: each.publisher_id }));
    const columns = ['node_id', 'version', 'publisher_id', 'status', 'createdAt', 'status_reason'];
    return { data, text: tableOf(data, 'No version matches.', columns) };
  },
});

export const show = command({
  parameters: ['node', 'version'],
  summary: 'Show a version of a node',
  readsOnly: true,
  examples: ['node-version show demo-node 1.0.0', 'node-version show demo-node 1.0.0 --json'],
  async run({ node, version }) {
    const found = await showNodeVersion(node, version);
    const { published_by, token_id, trust_id, extraction } = found;
    const { version: label, ...copy } = versionCopy(found);
    const data = { version: label, ...copy, published_by, token_id, trust_id, extraction };
    return { data, text: fieldsOf(data) };
  },
});

export const flag = command({
  parameters: ['node', 'version'],
  summary: 'Add a warning to a version that can still be downloaded',
  notes: 'Only an active version can be flagged. Flagging does not change which version is the latest.',
  options: { reason },
  tellsOwners: true,
  examples: ['node-version flag demo-node 1.2.0 --reason "Reads the environment; under review"'],
  async run({ node, version }, { reason }, { actor }) {
    return resultOf('Flagged', await setFlag(actor, node, version, reason));
  },
});

export const unflag = command({
  parameters: ['node', 'version'],
  summary: 'Remove the warning',
  tellsOwners: true,
  examples: ['node-version unflag demo-node 1.2.0'],
  async run({ node, version }, _, { actor }) {
    return resultOf('Unflagged', await setFlag(actor, node, version, undefined));
  },
});

export const withdraw = command({
  parameters: ['node', 'version'],
  summary: 'Take a version out of every list, or drop one that waits for its upload',
  notes:
    'Those who name a withdrawn version still download it, since others depend on its bytes, and its label stays taken: to\nstop its downloads, ban it. It is never the latest. A dropped version is gone, and its label is free again.',
  options: { reason: { value: 'TEXT', about: 'The reason; callers see it as status_reason' } },
  tellsOwners: true,
  examples: ['node-version withdraw demo-node 1.2.0 --reason "Crashes at start: use 1.2.1"'],
  async run({ node, version }, { reason }, { actor }) {
    const request = { ...(await namedVersion(node, version)), by: actor, reason };
    const withdrawal = await withdrawVersion(newContext(), request);
    const { status, version: label, node_id } = withdrawal.result;
    if (status !== pending) return resultOf('Withdrew', withdrawal);
    const text = `Dropped version ${label} of "${node_id}": its label is free again.`;
    return { data: versionCopy(withdrawal.result), text };
  },
});

async function namedVersion(nodeId: string, version: string) {
  const { publisher_id: publisherId, id: versionId } = await showNodeVersion(nodeId, version);
  return { publisherId, nodeId, versionId };
}

export const restore = command({
  parameters: ['node', 'version'],
  summary: 'Put a withdrawn version back',
  tellsOwners: true,
  examples: ['node-version restore demo-node 1.2.0'],
  async run({ node, version }, _, { actor }) {
    const request = { ...(await namedVersion(node, version)), by: actor };
    return resultOf('Restored', await restoreVersion(newContext(), request));
  },
});

export const ban = command({
  parameters: ['node', 'version'],
  areOptional: true,
  summary: 'Ban a version, or all of a token, a trust or a file: no download, no upload, never the latest',
  notes:
    'Callers see the status and the reason, but no downloadUrl. If it was the latest version of its node, the\nhighest version that can be downloaded takes its place. A version that waits for its upload can also be banned.\nFirst revoke the token, or remove the trust.',
  options: {
    reason,
    token: {
      value: 'ID',
      about: 'All versions published with this token of token list; reads the whole table',
    },
    trust: { value: 'ID', about: 'All versions published by jobs of this trust of trust list' },
    file: { value: 'FILE', about: 'All versions in this file, each a line: <node> <version>' },
  },
  tellsOwners: true,
  examples: [
    'node-version ban demo-node 1.2.0 --reason "Steals keys: go back to 1.1.0"',
    'node-version ban --token 0d5f6c8e-0b7e-4c4e-9d53-0f6b1a0c9b52 --reason "Published by a thief"',
  ],
  async impact(named, options) {
    const versions = await versionsToBan(named, options);
    const [one] = versions;
    if (one && versions.length === 1) return `bans ${await describeNodeVersion(one.node, one.version)}`;
    const shown = versions.slice(0, maxNamed).map(({ node, version }) => `${node} ${version}`);
    const rest = versions.length > maxNamed ? ` and ${versions.length - maxNamed} more` : '';
    return `bans ${versions.length} versions: ${shown.join(', ')}${rest}`;
  },
  async run(named, { reason, ...options }, { actor }) {
    const versions = await versionsToBan(named, options);
    const results: CommandResult[] = [];
    let failed = 0;
    const nodes = Map.groupBy(versions, ({ node }) => node);
    for (const [node, all] of nodes)
      for (const part of inParts(all, bans.maxBannedAtOnce)) {
        const labels = part.map(({ version }) => version);
        const context = { deadline: Date.now() + 60_000 };
        const made = await bans
          .banNodeVersions(context, actor, node, labels, reason)
          .catch((error) => ({ error }));
        for (const label of labels) {
          const isIt = ({ result }: Changed<NodeVersionRecord>) => result.version === normalizeVersion(label);
          const found = 'error' in made ? undefined : made.find(isIt);
          const error = 'error' in made ? made.error : noSuchVersion(node, label);
          if (!found && versions.length === 1) throw error;
          if (!found) failed += 1;
          const data = { node_id: node, version: label, error: textOf(error) };
          results.push(found ? resultOf('Banned', found) : { data, text: String(textOf(error)) });
        }
        if (versions.length > bans.maxBannedAtOnce)
          process.stderr.write(`${results.length - failed} of ${versions.length} versions are banned.\n`);
      }
    const data = versions.length === 1 && named.node ? results[0]?.data : results.map((each) => each.data);
    const text = results.map((each) => each.text).join('\n') || 'No version matches.';
    const nodeIds = [...nodes.keys()];
    const problem = `${failed} of ${versions.length} could not be finished: see the findings, and run it again.`;
    return { ...(await aligning({ nodeIds }, async () => ({ data, text }))), ...(failed > 0 && { problem }) };
  },
});

const maxNamed = 10;

interface NamedVersion {
  node: string;
  version: string;
}

async function versionsToBan(
  { node, version }: NamedVersion,
  { token, trust, file }: Record<'token' | 'trust' | 'file', string | undefined>,
): Promise<NamedVersion[]> {
  if ([node, token, trust, file].filter(Boolean).length !== 1 || Boolean(node) !== Boolean(version))
    throw new UsageError('Give a node and a version, or one of --token, --trust and --file.');
  if (node) return [{ node, version }];
  if (file === undefined) {
    const fields = ['node_id', 'version', 'createdAt'];
    const found = await findVersions({ token_id: token, trust_id: trust }, fields);
    return found.map((each) => ({ node: each.node_id, version: each.version }));
  }
  const lines = String(await readNamed(file)).split('\n');
  return lines.flatMap((line, place) => {
    const [node, version, ...rest] = line.trim().split(/\s+/);
    if (node === '') return [];
    if (!node || !version || rest.length > 0)
      throw new UsageError(`Line ${place + 1} of ${file} is not <node> <version>: ${line}`);
    return { node, version };
  });
}

export const unban = command({
  parameters: ['node', 'version'],
  summary: 'Restore a banned version to its earlier state',
  tellsOwners: true,
  examples: ['node-version unban demo-node 1.2.0'],
  async run({ node, version }, _, { actor }) {
    const result = resultOf('Unbanned', await bans.unbanNodeVersion(newContext(), actor, node, version));
    return aligning({ nodeIds: [node] }, async () => result);
  },
});

/** An unbanned version may still be banned with its node or publisher, so the text ends with the status. */
function resultOf(verb: string, { result, changed }: Changed<NodeVersionRecord>): CommandResult {
  const { version, node_id, status, status_reason_code: code } = result;
  const short = shortStatus(status);
  const state = [undefined, short].includes(code) ? short : `${short} (${code})`;
  const text = changed
    ? `${verb} version ${version} of "${node_id}": it is ${state}.`
    : `Nothing changed: version ${version} of "${node_id}" is ${state}.`;
  return { data: versionCopy(result), text };
}

export const extract = command({
  parameters: ['node', 'version'],
  summary: 'Have the host nodes of a version read from its archive again, within a minute',
  notes:
    'After an update of the extractor, or for a version whose extraction was given up. Entries that people edited stay; others\nthat are no longer found are not shown.',
  examples: ['node-version extract demo-node 1.0.0'],
  async run({ node, version }, _, { actor }) {
    const { result } = await readAgain(actor, node, version);
    const text = `Version ${result.version} of "${result.node_id}" is read again within a minute.`;
    return { data: versionCopy(result), text };
  },
});
