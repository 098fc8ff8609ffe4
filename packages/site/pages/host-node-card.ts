import type { IndexedHostNodes } from 'registry-client';
import { element, foreign, pill } from './elements.ts';
import { readHostNode, type Socket, type Widget } from './read-host-node.ts';

type HostNode = IndexedHostNodes['host_nodes'][number];

/** The colors that people know from the host; other types get one from their name. */
const hues: Record<string, number> = {
  ...{ IMAGE: 207, LATENT: 301, MODEL: 262, CLIP: 50, VAE: 0, CONDITIONING: 34, MASK: 122, AUDIO: 175 },
  ...{ VIDEO: 225, CONTROL_NET: 160, CLIP_VISION: 20, STYLE_MODEL: 75, INT: 95, FLOAT: 140, STRING: 330 },
};
const maxShown = 300;

/** A host node as the host draws it: inputs on the left, outputs on the right, widgets below. */
export function hostNodeCard(node: HostNode): HTMLElement {
  const name = node.host_node_name ?? '';
  const { inputs, widgets, outputs, isComplete } = readHostNode(node);
  const isUnknown = !isComplete && outputs.length === 0;
  return element(
    'li',
    { className: 'host-node' },
    element(
      'div',
      { className: 'title' },
      element('h3', {}, foreign(node.display_name || name)),
      ...statesOf(node),
    ),
    element(
      'div',
      { className: 'sockets' },
      socketList('Inputs', inputs, 'inputs'),
      socketList('Outputs', outputs, 'outputs'),
    ),
    widgets.length > 0 &&
      element('ul', { className: 'widgets', ariaLabel: 'Widgets' }, ...widgets.map(widgetRow)),
    isUnknown && element('p', { className: 'quiet' }, 'Its inputs and outputs are not known.'),
    element(
      'div',
      { className: 'about' },
      node.description && element('p', { className: 'description' }, foreign(cut(node.description))),
      element(
        'p',
        { className: 'quiet' },
        element('code', {}, foreign(name)),
        node.category ? ' in ' : undefined,
        node.category ? foreign(node.category) : undefined,
      ),
    ),
  );
}

function statesOf({ deprecated, experimental, policy }: HostNode): HTMLElement[] {
  return [
    ...(deprecated ? [pill('deprecated', 'warn')] : []),
    ...(experimental ? [pill('experimental', 'warn')] : []),
    ...(policy === 'HostNodePolicyBanned' ? [pill('banned', 'bad')] : []),
    ...(policy === 'HostNodePolicyLocalOnly' ? [pill('local only')] : []),
  ];
}

function socketList(label: string, sockets: readonly Socket[], className: string): HTMLElement | undefined {
  if (sockets.length === 0) return undefined;
  return element('ul', { className, ariaLabel: label }, ...sockets.map(socketRow));
}

function socketRow({ name, type, isOptional, isList }: Socket): HTMLElement {
  const dot = element('span', { className: `dot${isOptional ? ' hollow' : ''}${isList ? ' square' : ''}` });
  dot.style.setProperty('--hue', String(hueOf(type)));
  const notes = [isOptional && 'optional', isList && 'list'].filter(Boolean).join(', ');
  const typed = name === type ? notes : `${cut(type)}${notes && `, ${notes}`}`;
  return element(
    'li',
    {},
    dot,
    element('span', {}, foreign(cut(name)), typed && element('small', {}, foreign(typed))),
  );
}

function widgetRow({ name, type, value, choices, isOptional }: Widget): HTMLElement {
  const kind = choices === undefined ? type : `one of ${choices.toLocaleString('en-US')}`;
  const known = type === 'COMBO' && choices === 0 ? 'chosen in the host' : kind;
  return element(
    'li',
    {},
    element(
      'span',
      {},
      foreign(cut(name)),
      element('small', {}, foreign(isOptional ? `${known}, optional` : known)),
    ),
    value !== '' && element('span', { className: 'value' }, foreign(cut(value))),
  );
}

/** A default may be a text of a hundred kilobytes. */
function cut(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown).toWellFormed()}…` : text;
}

function hueOf(type: string): number {
  const known = Object.hasOwn(hues, type) ? hues[type] : undefined;
  return (
    known ?? [...type.slice(0, maxShown)].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7)
  );
}
