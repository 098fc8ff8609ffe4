import type { HostNode } from '@node-registry/registry-rules/schemas/host-node';
import type { IndexedHostNodes } from '@node-registry/registry-rules/schemas/index-files';
import { type Content, html, type Markup } from './markup.ts';
import { readHostNode, type Value } from './read-host-node.ts';
import { badge, countOf, foreign, hueOf as hueOfText, numberOf } from './text.ts';

/** The host's usual colors, in steps of 15 degrees; other types get one from their name. */
const hues: Record<string, number> = {
  IMAGE: 14,
  LATENT: 20,
  MODEL: 17,
  CLIP: 3,
  VAE: 0,
  CONDITIONING: 2,
  MASK: 8,
  AUDIO: 12,
  VIDEO: 15,
  CONTROL_NET: 11,
  CLIP_VISION: 1,
  STYLE_MODEL: 5,
  INT: 6,
  FLOAT: 9,
  STRING: 22,
};
const maxShown = 300;
const maxCards = 60;
/** 25 host nodes whose return types are 80,000 commas each would have a page of 128 MB. */
const maxValues = 100;
const maxCardCharacters = 1_000_000;

/** Banned ones aren't listed, and deprecated ones are folded: the contract hides them. */
export function hostNodeSection(file: IndexedHostNodes | undefined): { count: number; content: Content } {
  const nodes = (file?.host_nodes ?? []).filter(({ policy }) => policy !== 'HostNodePolicyBanned');
  const current = nodes.filter(({ deprecated }) => !deprecated);
  const deprecated = nodes.filter((node) => node.deprecated);
  const cards = cardsOf(current.slice(0, maxCards));
  const others = current.slice(cards.length).map(nameLine);
  const content = html`<p class="quiet">${foreign(sentenceOf(file, nodes))}</p>
${current.length > 0 && html`<ul class="plain host-nodes">${cards}</ul>`}
${others.length > 0 && html`<details class="rest"><summary>${countOf(others.length, 'more host node')}, by name</summary><ul class="plain rows">${others}</ul></details>`}
${deprecated.length > 0 && html`<details class="rest"><summary>${countOf(deprecated.length, 'deprecated host node')}</summary><ul class="plain rows">${deprecated.map(nameLine)}</ul></details>`}`;
  return { count: nodes.length, content };
}

/** As many as fit. */
function cardsOf(nodes: readonly HostNode[]): Markup[] {
  const cards: Markup[] = [];
  let characters = 0;
  for (const node of nodes) {
    if (characters > maxCardCharacters) break;
    const card = hostNodeCard(node);
    characters += card.text.length;
    cards.push(card);
  }
  return cards;
}

function nameLine({ host_node_name = '', display_name, conditional }: HostNode): Markup {
  return html`<li><code>${foreign(host_node_name)}</code> ${display_name && foreign(cut(display_name))} ${conditional && conditionally}</li>`;
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

/** A host node as the host draws it: inputs on the left, outputs on the right, widgets below. */
function hostNodeCard(node: HostNode): Markup {
  const name = node.host_node_name ?? '';
  const { inputs, widgets, outputs, isComplete } = readHostNode(node);
  const isUnknown = !isComplete && outputs.length === 0;
  const states = [
    node.deprecated && badge('Deprecated', 'warn'),
    node.experimental && badge('Experimental', 'warn'),
    node.policy === 'HostNodePolicyLocalOnly' && badge('Local only'),
  ];
  return html`<li class="host-node">
<div class="head"><h3>${foreign(cut(node.display_name || name))}</h3>${states}</div>
<div class="sockets">${socketList('Inputs', inputs)}${socketList('Outputs', outputs)}</div>
${widgets.length > 0 && html`<ul class="widgets" aria-label="Widgets">${rowsOf(widgets, widgetRow)}</ul>`}
${isUnknown && html`<p class="quiet">Its inputs and outputs are not known.</p>`}
${node.conditional && html`<p class="quiet">${conditionally}</p>`}
${openList(node.left_open ?? [])}
<div class="about">${node.description && html`<p class="description">${foreign(cut(node.description))}</p>`}
<p class="quiet"><code>${foreign(name)}</code>${node.category && html` in ${foreign(cut(node.category))}`}</p></div>
</li>`;
}

const conditionally = 'Listed only under a condition that its code does not show.';

/** The values that only running the pack shows, with the reasons. */
function openList(open: readonly string[]): Markup | undefined {
  if (open.length === 0) return undefined;
  const items = open.map((each) => html`<li>${foreign(cut(each))}</li>`);
  return html`<details class="quiet"><summary>${countOf(open.length, 'value')} that its code does not show</summary><ul>${items}</ul></details>`;
}

function socketList(label: string, sockets: readonly Value[]): Markup | undefined {
  if (sockets.length === 0) return undefined;
  return html`<ul class="${label.toLowerCase()}" aria-label="${label}">${rowsOf(sockets, socketRow)}</ul>`;
}

function rowsOf(values: readonly Value[], rowOf: (value: Value) => Markup): Content {
  const more = values.length - maxValues;
  return [...values.slice(0, maxValues).map(rowOf), more > 0 && html`<li>${numberOf(more)} more</li>`];
}

function socketRow({ name, type, isOptional, isList }: Value): Markup {
  const shape = `dot hue-${hueOf(type)}${isOptional ? ' hollow' : ''}${isList ? ' square' : ''}`;
  const notes = [isOptional && 'optional', isList && 'list'].filter(Boolean).join(', ');
  const typed = name === type ? notes : `${cut(type)}${notes && `, ${notes}`}`;
  return html`<li><span class="${shape}"></span><span>${foreign(cut(name))}${typed && html` <small>${foreign(typed)}</small>`}</span></li>`;
}

function widgetRow({ name, type, preset = '', choices, hasMore, isOptional }: Value): Markup {
  const least = hasMore ? 'at least ' : '';
  const kind = choices === undefined ? type : `one of ${least}${choices.toLocaleString('en-US')}`;
  const known = type === 'COMBO' && choices === 0 ? 'chosen in the host' : kind;
  const shown = preset !== '' && html` <span class="value">${foreign(cut(preset))}</span>`;
  return html`<li><span>${foreign(cut(name))} <small>${foreign(isOptional ? `${known}, optional` : known)}</small></span>${shown}</li>`;
}

/** A default may be a string of a hundred kilobytes. */
function cut(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown).toWellFormed()}…` : text;
}

function hueOf(type: string): number {
  return (Object.hasOwn(hues, type) ? hues[type] : undefined) ?? hueOfText(type);
}
