// POST /bulk/nodes/versions
import { bulkNodeVersions } from '../lib/contracts/bulk-node-versions.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { findNodeVersions } from '../lib/registry/node-versions.ts';
import { boundedList } from '../lib/http/bounded-json.ts';

const tooMuch = 'The answer would be too large with this version; ask for fewer versions at once.';

export const handler = endpoint(bulkNodeVersions, async ({ body, deadline }) => {
  const lookups = await findNodeVersions(body.node_versions, deadline);
  const entries = body.node_versions.map((identifier, index) => ({ identifier, ...lookups[index] }));
  const shorten = ({ identifier }: { identifier: unknown }) => ({
    identifier,
    status: 'error',
    error_message: tooMuch,
  });
  return { body: boundedList('node_versions', entries, shorten) };
});
