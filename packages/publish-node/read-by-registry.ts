import { setTimeout as pause } from 'node:timers/promises';
import type { NodeVersion, RegistryClient } from '@node-registry/registry-client';
import type { FoundHostNodes } from './extraction.ts';
import { hostNodesResult } from './host-nodes.ts';
import type { Project } from './project.ts';

/** Most packs are read within two seconds; a publish is complete without it. */
const patienceMs = 5_000;
const pauseMs = 250;

/** The version once its host nodes have been read, or its state after a few seconds or a failed request. */
export async function waitForHostNodes(
  registry: RegistryClient,
  { node, version }: Project,
  published: NodeVersion,
): Promise<NodeVersion> {
  const signal = AbortSignal.timeout(patienceMs);
  let latest = published;
  try {
    while (latest.host_node_extract_status === 'pending') {
      await pause(pauseMs, undefined, { signal });
      const [entry] = await registry.versions.bulk([{ node_id: node, version }], { signal });
      latest = entry?.node_version ?? latest;
    }
  } catch {
    // The version is published, even if reading its host nodes fails.
  }
  return latest;
}

/** One line for a person; the registry gives no number, so this command counts the nodes that it reads. */
export function hostNodesLine(
  { node, version }: Project,
  { host_node_extract_status: status, host_node_extract_reason: reason }: NodeVersion,
  found: FoundHostNodes | undefined,
): string {
  if (status === 'failed') return `host nodes: failed: ${reason}`;
  if (status !== 'success')
    return `host nodes are being read; see: publish-node status --node ${node} --version ${version}`;
  if (found?.status !== 'success') return 'host nodes: success';
  return found.nodes.length === 1 ? '1 host node' : `${found.nodes.length} host nodes`;
}

/** The same for a program: the registry's own status, and the host nodes as this command reads them. */
export function readByRegistry(version: NodeVersion, found: FoundHostNodes | undefined) {
  // A list that could not be read here isn't the registry's.
  const isKnown = found?.status === 'success' || version.host_node_extract_status !== 'success';
  return {
    ...(found && isKnown && hostNodesResult(found)),
    host_node_extract_status: version.host_node_extract_status,
    host_node_extract_reason: version.host_node_extract_reason,
  };
}
