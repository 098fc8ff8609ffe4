type Child = Node | string | number | undefined | false;

/** An element with properties and children. Text becomes text nodes, so it is never parsed as markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== undefined && child !== false).map(toNode));
  return made;
}

function toNode(child: Node | string | number): Node | string {
  return typeof child === 'number' ? child.toLocaleString('en-US') : child;
}

/** An element of the page's own HTML. */
export function at<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element ${id}.`);
  return found as Kind;
}

const visible = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
const maxCodePoints = 8;

/** Isolates the direction marks of a text that a publisher wrote. Invisible text is shown as code points. */
export function foreign(text: string): HTMLElement {
  if (text === '' || visible.test(text)) return element('bdi', {}, text);
  const points = [...text].slice(0, maxCodePoints).map((letter) => letter.codePointAt(0) ?? 0);
  const spelled = points.map((point) => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`);
  return element('bdi', {}, spelled.join(' '));
}

/** A longer text of a publisher, without the control characters that reorder it. */
export function withoutTurns(text: string): string {
  return text.replace(/\p{Bidi_Control}/gu, '');
}

export function pill(text: string, tone: 'good' | 'warn' | 'bad' | 'plain' = 'plain'): HTMLElement {
  return element('span', { className: `pill ${tone}` }, text);
}

/** Undefined for an address that is not one of the web, or contains a password. */
export function webAddress(text: string | undefined): string | undefined {
  const url = text === undefined ? null : URL.parse(text.trim());
  const isWeb = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isWeb ? url.href : undefined;
}

/** A publisher's link if it leads to the web, otherwise its text. */
export function webLink(address: string, text = address.replace(/^https?:\/\//, '')): HTMLElement {
  const href = webAddress(address);
  if (href === undefined) return foreign(text);
  return element('a', { href, rel: 'noopener noreferrer nofollow' }, foreign(text));
}

export function dateOf(timestamp: string | undefined): HTMLElement | undefined {
  const date = new Date(timestamp ?? '');
  if (timestamp === undefined || Number.isNaN(date.getTime())) return undefined;
  const text = date.toLocaleDateString('en-US', { year: 'numeric', month: 'short', day: 'numeric' });
  return element('time', { dateTime: timestamp, title: timestamp }, text);
}

export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const isLarge = bytes >= 1_000_000;
  return `${(bytes / (isLarge ? 1_000_000 : 1000)).toFixed(1)} ${isLarge ? 'MB' : 'kB'}`;
}

/** A list of names and values, without the empty ones. */
export function facts(entries: Record<string, Child>): HTMLElement {
  const rows = Object.entries(entries).filter(([, value]) => value !== undefined && value !== '');
  return element(
    'dl',
    {},
    ...rows.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
}

/** A list that grows by a button: thousands of entries would freeze a phone. */
export function growingList<Item>(
  list: HTMLElement,
  more: HTMLButtonElement,
  { items, step, render }: { items: readonly Item[]; step: number; render: (item: Item) => HTMLElement },
): void {
  let shown = 0;
  const grow = () => {
    const added = items.slice(shown, shown + step).map(render);
    list.append(...added);
    shown += added.length;
    more.hidden = shown >= items.length;
    more.textContent = `Show more (${(items.length - shown).toLocaleString('en-US')} left)`;
    return added[0];
  };
  list.replaceChildren();
  grow();
  more.onclick = () => {
    // The button may be gone, and a keyboard's user goes on at the first new entry.
    grow()?.querySelector('a')?.focus();
  };
}

/** A line to paste, with a button that copies it. */
export function copyable(line: string): HTMLElement {
  const button = element('button', { type: 'button', className: 'copy' }, 'Copy');
  button.onclick = async () => {
    const copied = await navigator.clipboard.writeText(line).then(
      () => 'Copied',
      () => 'Not copied',
    );
    button.textContent = copied;
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  };
  return element('div', { className: 'copyable' }, element('pre', { tabIndex: 0 }, line), button);
}
