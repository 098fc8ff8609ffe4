import { archiveLimits } from '@node-registry/registry-rules/archives/limits';
import type { IndexedNode, PublicVersion } from '@node-registry/registry-client';
import { Failure } from './failure.ts';
import { write } from './new-file.ts';
import { type Ending, type Mean, say } from './output.ts';
import { openRegistry, type ReadFlags, requireNode, requireVersion, wantedOf } from './reading.ts';

interface DownloadFlags extends ReadFlags {
  output?: string | undefined;
}

function warn({ id, status, status_detail: why }: IndexedNode, version: PublicVersion): void {
  const because = (text: string | undefined) => (text ? `: ${text}` : '.');
  if (status === 'NodeStatusDeleted') say(`${id} is withdrawn${because(why)}`);
  if (version.status === 'NodeVersionStatusDeleted')
    say(`${id} ${version.version} is withdrawn${because(version.status_reason)}`);
  if (version.deprecated) say(`${id} ${version.version} is deprecated${because(version.changelog)}`);
  if (version.status === 'NodeVersionStatusFlagged')
    say(`${id} ${version.version} is flagged${because(version.status_reason)}`);
}

/** Downloads a version, and keeps it only if its bytes match the published ones. */
export async function downloadCommand(text: string, flags: DownloadFlags, mean: Mean): Promise<Ending> {
  const wanted = wantedOf(text);
  mean({ publisher: undefined, ...wanted });
  const registry = await openRegistry(flags, wanted);
  const node = await requireNode(registry, wanted.node);
  const version = requireVersion(node, wanted.version);
  warn(node, version);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of await registry.download(version)) {
    bytes += chunk.length;
    if (bytes > archiveLimits.archiveBytes)
      throw new Failure('archiveRejected', `The archive has more than ${archiveLimits.archiveBytes} bytes.`);
    chunks.push(chunk);
  }
  const archive = Buffer.concat(chunks);
  // Names from the registry could be paths.
  const file = flags.output ?? `${node.id}-${version.version}.zip`.replaceAll(/[^\w.+-]/g, '-');
  await write(file, archive);
  return {
    report: {
      ...{ status: 'downloaded', publisher: node.publisher?.id, node: node.id, version: version.version },
      ...{ download_url: version.downloadUrl, sha256: version.sha256, archive_bytes: archive.length },
      output: file,
    },
    lines: [`sha256  ${version.sha256}, as published`, `Wrote ${file}.`],
  };
}
