import { bucketName, localAddress, localDirectory, ports } from './addresses.ts';
import { demo } from './demo.ts';

interface BannerFacts {
  seconds: number;
  listening: Record<string, string>;
  ownerToken: string;
  adminToken: string;
  /** The key that receivers verify notifications with. */
  publicKey: string;
}

/** The text for a newcomer once everything is up: URLs, tokens, and a call to paste. */
export function banner({ seconds, listening, ownerToken, adminToken, publicKey }: BannerFacts): string {
  const api = localAddress(ports.api);
  const providers = localAddress(ports.providers);
  const { nodeId, version, personalAccessToken } = demo;
  const lines = Object.entries(listening).map(([part, url]) => `  ${part.padEnd(20)} ${url}`);
  return `
Up in ${seconds.toFixed(1)} s.

${lines.join('\n')}

Tokens (more with: npm run token -- --user NAME [--admin])

  OWNER='${ownerToken}'
  ADMIN='${adminToken}'
  PERSONAL='${personalAccessToken}'

The key that signs notifications

  PUBLIC_KEY='${publicKey}'

A call to paste; the API reference has one of each operation

  curl ${api}/bulk/nodes/versions --json '{"node_versions":[{"node_id":"${nodeId}","version":"${version}"}]}'

The packed publish-node, in any folder (npm run publish-node sets both)

  export NODE_REGISTRY_URL=${api} NODE_REGISTRY_DOWNLOADS_URL=${localAddress(ports.s3)}/${bucketName}

Make a provider misbehave (the list of ways: curl ${providers}/control)

  curl ${providers}/control/misbehave --json '{"provider":"video","kind":"status","status":429,"retryAfter":1,"times":2}'

Data is kept under ${localDirectory}. Ctrl-C stops everything.
`;
}
