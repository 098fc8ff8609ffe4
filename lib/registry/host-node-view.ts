import { HostNode } from 'registry-rules/schemas/host-node';
import { type HostNodeRecord, pickFields } from './records.ts';

/** Without the parts left open of fields that a person has written since. */
export function hostNodeView(entry: HostNodeRecord): HostNode {
  const { left_open, ...shown } = pickFields<HostNode>(entry, HostNode);
  const open = left_open?.filter((text) => !entry.touched?.includes(text.split(':', 1)[0] ?? ''));
  return { ...shown, ...(open?.length && { left_open: open }) };
}
