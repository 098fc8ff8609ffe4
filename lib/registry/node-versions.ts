import { ApiError } from '../errors.ts';
import { adminVersionFields, NodeVersion, type NodeVersionInput } from '../schemas/node-version.ts';
import { normalizeVersion } from '../schemas/version-label.ts';
import { type Item, visibleFields } from '../store/attribute-values.ts';
import { isSameNodeId, type Key, nodeVersionKey } from '../store/keys.ts';
import { readBatches } from '../store/table.ts';

export const maxVersionBytes = 120_000;

export function nodeVersionView(item: Item): NodeVersion {
  return visibleFields(item, NodeVersion);
}

export const waitingForUpload = 'Waiting for the archive: PUT it to the signedUrl of the publish answer.';

/** What a publisher says of a version, as attributes; null and absent alike leave a field out. */
export function versionFields(input: NodeVersionInput, { isAdmin }: { isAdmin: boolean }): Item {
  const fields: Item = { ...input };
  for (const [field, value] of Object.entries(fields)) {
    if (value === null || (!isAdmin && adminVersionFields.includes(field))) delete fields[field];
  }
  return fields;
}

interface Identifier {
  node_id: string;
  version: string;
}

type Lookup =
  | { status: 'success'; node_version: NodeVersion }
  | { status: 'not_found' | 'error'; error_message: string };

const longestNodeId = 200;

/** Looks up many versions at once, each pair once however often it is asked for. Answers in the pairs' order. */
export async function findNodeVersions(
  identifiers: readonly Identifier[],
  deadline: number,
): Promise<Lookup[]> {
  const places = new Map<string, number>();
  const keys: Key[] = [];
  const placeOf = ({ node_id, version }: Identifier): number | undefined => {
    const normal = normalizeVersion(version);
    if (normal === undefined || node_id === '' || node_id.length > longestNodeId || !node_id.isWellFormed())
      return undefined;
    const key = nodeVersionKey(node_id, normal);
    const name = `${key.pk}\n${key.sk}`;
    const known = places.get(name) ?? keys.push(key) - 1;
    places.set(name, known);
    return known;
  };
  const wanted = identifiers.map(placeOf);
  const { items, unread } = await readBatches(keys, deadline);
  if (keys.length > 0 && unread.size === keys.length) throw new ApiError('unavailable');
  return identifiers.map((identifier, index) => {
    const place = wanted[index];
    if (place === undefined) return { status: 'error', error_message: faultOf(identifier) };
    if (unread.has(place))
      return { status: 'error', error_message: 'The store is overloaded; ask for this pair again.' };
    const item = items[place];
    if (!item || !isSameNodeId(String(item.node_id), identifier.node_id)) {
      return { status: 'not_found', error_message: 'There is no such node version.' };
    }
    return { status: 'success', node_version: nodeVersionView(item) };
  });
}

function faultOf({ version }: Identifier): string {
  return normalizeVersion(version) === undefined
    ? 'The version is not a semantic version such as 1.2.3.'
    : `The node_id must have 1 to ${longestNodeId} characters.`;
}
