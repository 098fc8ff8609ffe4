import { type Key, subjectOf } from '../store/keys.ts';

/** What changed about a node, and the keys that say so. */
export interface NodeChange {
  /** Whether the node itself or one of its versions changed, and not only host nodes. */
  isListed: boolean;
  /** The labels of the versions that changed. */
  versions: Set<string>;
  /** The labels of the versions whose host nodes changed. */
  hostNodes: Set<string>;
  keys: Key[];
}

export interface Changes {
  nodes: Map<string, NodeChange>;
  publishers: Map<string, Key>;
}

/** The nodes and publishers that records belong to. */
export function changesIn(keys: readonly Key[]): Changes {
  const changes: Changes = { nodes: new Map(), publishers: new Map() };
  for (const key of keys) {
    const part = subjectOf(key);
    if (part?.subject === 'PUBLISHER') changes.publishers.set(part.id, key);
    else if (part) addTo(changes, key, part);
  }
  return changes;
}

type Part = Exclude<ReturnType<typeof subjectOf>, undefined>;

function addTo({ nodes }: Changes, key: Key, part: Part): void {
  const { id } = part;
  const change = nodes.get(id) ?? { isListed: false, versions: new Set(), hostNodes: new Set(), keys: [] };
  if (part.subject !== 'HOST_NODE') change.isListed = true;
  if (part.subject === 'VERSION') change.versions.add(part.label);
  if ('label' in part) change.hostNodes.add(part.label);
  change.keys.push(key);
  nodes.set(id, change);
}
