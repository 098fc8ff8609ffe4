/** Ids with the same fold cannot both exist. A run of punctuation counts as one, as package indexes have it. */
export function foldNodeId(nodeId: string): string {
  return nodeId.toLowerCase().replace(/[-_.]+/g, '-');
}
