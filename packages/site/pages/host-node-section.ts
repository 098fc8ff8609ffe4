import type { IndexedHostNodes, PublicIndex } from 'registry-client';
import { element, foreign, growingList } from './elements.ts';
import { failure } from './failure.ts';
import { hostNodeCard } from './host-node-card.ts';

const step = 24;
const minToFilter = 12;

type HostNode = IndexedHostNodes['host_nodes'][number];

/** The host nodes of a version, once they are loaded. */
export function hostNodeSection(index: PublicIndex, id: string, version: string): HTMLElement {
  const content = element('div');
  const load = async () => {
    content.replaceChildren(element('p', { className: 'quiet', role: 'status' }, 'Loading the host nodes…'));
    try {
      content.replaceChildren(...render(await index.hostNodes(id, version)));
    } catch (error) {
      content.replaceChildren(failure(error, load));
    }
  };
  void load();
  return element('section', { ariaLabel: 'Host nodes' }, element('h2', {}, 'Host nodes'), content);
}

function render(file: IndexedHostNodes | undefined): HTMLElement[] {
  const sentence = sentenceOf(file);
  const nodes = file?.host_nodes ?? [];
  const list = element('ul', { className: 'plain host-nodes' });
  const more = element('button', { type: 'button' });
  const show = (items: readonly HostNode[]) => growingList(list, more, { items, step, render: hostNodeCard });
  show(nodes);
  return [
    ...(sentence === undefined ? [] : [element('p', { className: 'quiet' }, foreign(sentence))]),
    ...(nodes.length >= minToFilter ? [filterOf(nodes, show)] : []),
    ...(nodes.length > 0 ? [list, more] : []),
  ];
}

function sentenceOf(file: IndexedHostNodes | undefined): string | undefined {
  if (!file || file.host_node_extract_status === 'pending')
    return 'The host nodes are still being read from the archive. Look again in a minute.';
  const { host_nodes: nodes, host_node_extract_status: status, host_node_extract_reason: reason = '' } = file;
  if (status === 'failed')
    return nodes.length === 0
      ? `No host node could be read from the archive. ${reason}`
      : `Not all host nodes could be read from the archive. ${reason}`;
  return nodes.length === 0 ? 'This version has no host nodes.' : undefined;
}

function filterOf(nodes: readonly HostNode[], show: (items: readonly HostNode[]) => void): HTMLElement {
  const input = element('input', { type: 'search', id: 'host-node-filter', autocomplete: 'off' });
  const found = element('span', { role: 'status', className: 'quiet' }, `${nodes.length} host nodes`);
  input.oninput = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = nodes.filter((node) => words.every((word) => searchedText(node).includes(word)));
    found.textContent = `${matching.length.toLocaleString('en-US')} of ${nodes.length.toLocaleString('en-US')} host nodes`;
    show(matching);
  };
  const label = element('label', { htmlFor: input.id }, 'Filter');
  return element('div', { className: 'row' }, element('div', { className: 'field' }, label, input), found);
}

function searchedText({ host_node_name, display_name, category, description }: HostNode): string {
  return [host_node_name, display_name, category, description].join(' ').toLowerCase();
}
