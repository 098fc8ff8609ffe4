import { fields } from '@node-registry/command-line/table';
import { connect } from './connect.ts';
import { exitCodes, Failure } from './failure.ts';
import type { Ending, Mean } from './output.ts';
import { meantBy, readNamed, requireNamed } from './project.ts';
import type { Metadata } from './pyproject.ts';

interface StatusFlags {
  metadata: Metadata;
  baseUrl: string;
}

/** Anyone may ask: it takes no token. */
export async function statusCommand(folder: string, flags: StatusFlags, mean: Mean): Promise<Ending> {
  const read = await readNamed(folder, flags.metadata, true);
  mean(meantBy(read));
  const { publisher, node, version } = requireNamed(read);
  const registry = connect(flags);
  const [entry] = await registry.versions.bulk([{ node_id: node, version }]);
  const found = entry?.node_version;
  if (found === undefined) {
    const sentence = `${node} ${version}: ${entry?.error_message ?? 'The version does not exist.'}`;
    throw new Failure('rejected', sentence, { code: entry?.status ?? 'not_found' });
  }
  const word = String(found.status).replace('NodeVersionStatus', '').toLowerCase();
  const state = word === 'deleted' ? 'withdrawn' : word;
  const rows = {
    reason: found.status_reason,
    created: found.createdAt,
    size: found.size_bytes === undefined ? undefined : `${found.size_bytes} bytes`,
    sha256: found.sha256,
    download: found.downloadUrl,
    'host nodes': [found.host_node_extract_status, found.host_node_extract_reason].filter(Boolean).join(': '),
  };
  const report = {
    ...{ status: state, publisher: publisher || null, node, version },
    ...{ node_version: found, reason: found.status_reason },
    host_node_extract_status: found.host_node_extract_status,
    host_node_extract_reason: found.host_node_extract_reason,
    ...{ download_url: found.downloadUrl, sha256: found.sha256, archive_bytes: found.size_bytes },
  };
  const lines = [
    `${node} ${version} is ${state}.`,
    ...(found.status_reason_code === 'awaiting_upload' ? ['To finish it: publish-node publish'] : []),
    ...fields(rows).split('\n'),
  ];
  const exitCode =
    state === 'active' ? exitCodes.done : state === 'pending' ? exitCodes.tryAgain : exitCodes.rejected;
  return { exitCode, report, lines };
}
