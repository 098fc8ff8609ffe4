import type { HostNode } from '@node-registry/registry-rules/schemas/host-node';
import type { IndexedHostNodes } from '@node-registry/registry-rules/schemas/index-files';
import { conditionally, hostNodeCard } from './host-node-card.ts';
import { type Content, html, type Markup } from './markup.ts';
import { countOf, foreign } from './text.ts';

const maxCards = 60;

/** Banned ones aren't listed, and deprecated ones are folded: the contract hides them. */
export function hostNodeSection(file: IndexedHostNodes | undefined): { count: number; content: Content } {
  const nodes = (file?.host_nodes ?? []).filter(({ policy }) => policy !== 'HostNodePolicyBanned');
  const current = nodes.filter(({ deprecated }) => !deprecated);
  const deprecated = nodes.filter((node) => node.deprecated);
  const others = current.slice(maxCards).map(nameLine);
  const content = html`<p class="quiet">${foreign(sentenceOf(file, nodes))}</p>
${current.length > 0 && html`<ul class="plain host-nodes">${current.slice(0, maxCards).map(hostNodeCard)}</ul>`}
${others.length > 0 && html`<details class="rest"><summary>${countOf(others.length, 'more host node')}, by name</summary><ul class="plain rows">${others}</ul></details>`}
${deprecated.length > 0 && html`<details class="rest"><summary>${countOf(deprecated.length, 'deprecated host node')}</summary><ul class="plain rows">${deprecated.map(nameLine)}</ul></details>`}`;
  return { count: nodes.length, content };
}

function nameLine({ host_node_name = '', display_name, conditional }: HostNode): Markup {
  return html`<li><code>${foreign(host_node_name)}</code> ${display_name && foreign(display_name)} ${conditional && conditionally}</li>`;
}

function sentenceOf(file: IndexedHostNodes | undefined, nodes: readonly HostNode[]): string {
  const count = nodes.length;
  if (!file || file.host_node_extract_status === 'pending')
    return 'The host nodes are still being read from the archive. Look again in a minute.';
  const { host_node_extract_status: status, host_node_extract_reason: reason = '' } = file;
  if (status === 'failed')
    return `${count === 0 ? 'No host node' : 'Not all host nodes'} could be read from the archive. ${reason}`;
  if (count === 0) return 'This version has no host nodes.';
  const conditional = nodes.filter((node) => node.conditional).length;
  const open = nodes.filter(({ left_open = [] }) => left_open.length > 0).length;
  return [
    countOf(count, 'host node'),
    ...(conditional > 0 ? [`${countOf(conditional, 'is', 'are')} listed only under a condition`] : []),
    ...(open > 0 ? [`${countOf(open, 'has', 'have')} values that the code does not show`] : []),
  ].join('. ');
}
