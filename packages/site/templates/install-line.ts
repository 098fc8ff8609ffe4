import type { PublicVersion } from '@node-registry/registry-rules/schemas/index-files';
import { webAddress } from './text.ts';

/** Commands that download, check and unpack an archive, quoted for the shell; undefined without one. */
export function installLine(nodeId: string, version: PublicVersion): string | undefined {
  const address = webAddress(version.downloadUrl);
  if (address === undefined || !/^[0-9a-f]{64}$/.test(version.sha256 ?? '')) return undefined;
  const file = quoted(`${nodeId}-${version.version}.zip`);
  return [
    `curl -fLo ${file} ${quoted(address)}`,
    `echo ${quoted(`${version.sha256}  ${nodeId}-${version.version}.zip`)} | sha256sum --check`,
    `unzip -d ${quoted(nodeId)} ${file}`,
  ].join(' &&\n  ');
}

function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
