/** The state of a version's host nodes as a sentence. Undefined while there is nothing to say. */
export function hostNodesRead({
  host_nodes: nodes,
  host_node_extract_reason: reason,
  host_node_extract_status: status,
  downloadUrl,
}) {
  const because = reason ? `: ${reason}` : '.';
  const isBeingRead = status === 'pending' && downloadUrl !== undefined;
  if (nodes.length === 0) {
    if (status === 'failed') return `none could be read out of the archive${because}`;
    return isBeingRead ? 'being read out of the archive' : undefined;
  }
  const found = `${nodes.length} ${nodes.length === 1 ? 'host node' : 'host nodes'}`;
  if (status === 'failed') return `${found}; not all of them could be read out of the archive${because}`;
  return isBeingRead ? `${found}; the archive is still being read` : found;
}
