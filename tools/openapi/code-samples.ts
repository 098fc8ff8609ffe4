import type { Contract } from '../../lib/contract.ts';
import type { JsonObject } from '../../lib/json.ts';
import { selfServiceContracts } from '../../infra/operations.ts';
import { operations } from '../local/studio/operations.ts';
import type { Sample } from './examples.ts';
import { resultContracts } from './task-results.ts';

/** The server in the document and its samples. A page that shows them replaces it with its own. */
export const sampleServer = 'http://localhost:3000';

/** The methods of the typed client. The studio lists those of paid operations. */
const methods: Record<string, string> = {
  bulkNodeVersions: 'versions.bulk',
  publishNodeVersion: 'versions.register',
  updateNode: 'nodes.update',
  updateHostNode: 'hostNodes.update',
  ...Object.fromEntries(operations.map(({ name, method }) => [name, method])),
};

/** A call of an operation with curl and with the client. Viewers of OpenAPI documents show these next to the operation. */
export function codeSamples(contract: Contract, { path, query, body }: Sample): JsonObject[] {
  const { name, method, access } = contract;
  const route = Object.entries(path).reduce(
    (text, [key, value]) => text.replace(new RegExp(`{${key}\\+?}`), encodeURIComponent(value)),
    contract.path,
  );
  const sent = contract.body && written(body);
  const asked = new URLSearchParams(query).toString();
  const address = asked ? `${route}?${asked}` : route;
  const parts = [
    ...Object.entries({ path, query }).map(([part, given]) => {
      const fields = Object.entries(given).map(([key, value]) => `${key}: '${value}'`);
      return fields.length > 0 && `${part}: { ${fields.join(', ')} }`;
    }),
    sent && `body: ${sent}`,
  ];
  const curl = curlSample(method, address, access !== 'anyone', sent);
  // Clients of the providers have their own code for them.
  if (resultContracts.includes(contract)) return [curl];
  const call = selfServiceContracts.includes(contract)
    ? `account('${name}', { ${parts.filter(Boolean).join(', ')} })`
    : `${methods[name]}(${[...Object.values(path).map((value) => `'${value}'`), written(body.node_versions ?? body)].join(', ')})`;
  return [curl, { lang: 'TypeScript', label: 'Client', source: `await registry.${call};` }];
}

/** A call with curl. `$OWNER` is the caller's access token. */
function curlSample(verb: string, address: string, hasToken: boolean, body?: string): JsonObject {
  const parts = [
    `curl -X ${verb} '${sampleServer}${address}'`,
    hasToken && '-H "Authorization: Bearer $OWNER"',
    body && `--json '${body.replaceAll("'", `'\\''`)}'`,
  ];
  return { lang: 'Shell', label: 'curl', source: parts.filter(Boolean).join(' \\\n  ') };
}

function written(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
