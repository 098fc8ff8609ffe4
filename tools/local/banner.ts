import { bucketName, localAddress, localDirectory, ports } from './addresses.ts';
import { demo } from './demo.ts';

interface BannerFacts {
  seconds: number;
  listening: Record<string, string>;
  ownerToken: string;
  adminToken: string;
  /** What receivers check notifications with. */
  publicKey: string;
}

/** The text that greets a newcomer once everything is up: URLs, tokens, and calls to paste. */
export function banner({ seconds, listening, ownerToken, adminToken, publicKey }: BannerFacts): string {
  const api = localAddress(ports.api);
  const providers = localAddress(ports.providers);
  const { publisherId, nodeId, version, hostNodeName, personalAccessToken } = demo;
  const hostNode = encodeURIComponent(hostNodeName);
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

Calls to paste, after the tokens

  curl ${api}/bulk/nodes/versions --json '{"node_versions":[{"node_id":"${nodeId}","version":"${version}"}]}'

  curl -X PUT ${api}/publishers/${publisherId}/nodes/${nodeId} -H "Authorization: Bearer $OWNER" --json '{"tags":["demo","image"]}'

  curl -X PUT '${api}/nodes/${nodeId}/versions/${version}/host-nodes/${hostNode}' -H "Authorization: Bearer $OWNER" --json '{"category":"image/load"}'

  curl ${api}/publishers/${publisherId}/nodes/${nodeId}/versions -H "Authorization: Bearer $OWNER" --json '{"node":{},"node_version":{"version":"2.0.0"},"personal_access_token":"'$PERSONAL'"}'

  curl ${api}/proxy/image-provider/v1/ai/image-relight -H "Authorization: Bearer $OWNER" --json '{"image":"https://example.com/a.png","style":"smooth"}'

  curl ${api}/proxy/video-provider/text2video -H "Authorization: Bearer $OWNER" -H 'Idempotency-Key: first' --json '{"model":"vidq3-pro","prompt":"rain on a lake"}'

The packed publish-node, in any folder (npm run publish-node sets both)

  export NODE_REGISTRY_URL=${api} NODE_REGISTRY_DOWNLOADS_URL=${localAddress(ports.s3)}/${bucketName}

Make a provider misbehave (the list of ways: curl ${providers}/control)

  curl ${providers}/control/misbehave --json '{"provider":"video","kind":"status","status":429,"retryAfter":1,"times":2}'

Data is kept under ${localDirectory}. Ctrl-C stops everything.
`;
}
