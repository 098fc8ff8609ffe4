import type { Key } from '../store/keys.ts';

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
    const [kind, id = '', version] = key.pk.split('#');
    const [subject, ...rest] = key.sk.split('#');
    const label = version ?? rest.join('#');
    if (kind === 'PUBLISHER' && subject === 'PUBLISHER') changes.publishers.set(id, key);
    if (kind === 'NODE' && /^(?:NODE|VERSION|HOST_NODE)$/.test(String(subject)))
      addTo(changes, { id, subject, label, key });
  }
  return changes;
}

interface Part {
  id: string;
  subject: string | undefined;
  label: string;
  key: Key;
}

function addTo({ nodes }: Changes, { id, subject, label, key }: Part): void {
  const change = nodes.get(id) ?? { isListed: false, versions: new Set(), hostNodes: new Set(), keys: [] };
  if (subject !== 'HOST_NODE') change.isListed = true;
  if (subject === 'VERSION') change.versions.add(label);
  if (subject !== 'NODE') change.hostNodes.add(label);
  change.keys.push(key);
  nodes.set(id, change);
}
