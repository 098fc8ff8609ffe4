// POST /bulk/nodes/versions
import { bulkNodeVersions } from '../lib/contracts/bulk-node-versions.ts';
import { maxAnswerBytes } from '../lib/json.ts';
import { compressed } from '../lib/http/compressed.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { boundedList, findNodeVersions, tooMuch } from '../lib/registry/look-up.ts';

const lookUp = endpoint(bulkNodeVersions, async ({ body, context }) => {
  const identifiers = body.node_versions;
  const lookups = await findNodeVersions(context, identifiers, maxAnswerBytes);
  const entries = identifiers.map((identifier, index) => ({ identifier, ...lookups[index] }));
  return { body: boundedList('node_versions', entries, ({ identifier }) => ({ identifier, ...tooMuch })) };
});

export const handler = compressed(lookUp);
