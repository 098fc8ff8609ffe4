/** Ids with the same fold can't both exist. A run of punctuation counts as one, as in package indexes. */
export function foldNodeId(nodeId: string): string {
  return nodeId.toLowerCase().replace(/[-_.]+/g, '-');
}
