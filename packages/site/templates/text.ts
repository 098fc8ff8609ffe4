import { type Content, html, Markup } from './markup.ts';

const visible = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
const maxCodePoints = 8;

/** A publisher's text; its direction marks can't affect others. Invisible text is shown as code points. */
export function foreign(text: string): Markup {
  return html`<bdi>${visibleText(text)}</bdi>`;
}

/** The same without an element around it, for example in a title. */
export function visibleText(text: string): string {
  if (text === '' || visible.test(text)) return withoutTurns(text);
  const points = [...text].slice(0, maxCodePoints).map((letter) => letter.codePointAt(0) ?? 0);
  return points.map((point) => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`).join(' ');
}

/** `exe.png` stays unchanged: none of these characters has a glyph, and they move or hide visible ones. */
export function withoutTurns(text: string): string {
  return text.replace(/[\p{Bidi_Control}\u200b\u2060\ufeff]/gu, '');
}

/** A part of an address as it was before it was encoded. Anyone may write another address. */
export function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A longer text of a publisher, with its lines. */
export function lines(text: string): Markup {
  return html`<div class="lines">${foreign(text)}</div>`;
}

export function badge(content: Content, tone: 'plain' | 'good' | 'warn' | 'accent' = 'plain'): Markup {
  return html`<span class="badge ${tone}">${content}</span> `;
}

/** Undefined if the URL isn't a web address, or contains a password. */
export function webAddress(text: string | undefined): string | undefined {
  const url = text === undefined ? null : URL.parse(text.trim());
  const isWeb = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isWeb ? url.href : undefined;
}

const smallPicture = /^data:image\/(?:png|jpeg|webp|gif);base64,[\w+/]{1,4000}={0,2}$/;

/** The pages' policy allows no other pictures. */
export function pictureAddress(text: string | undefined): string | undefined {
  if (text !== undefined && smallPicture.test(text)) return text;
  const address = webAddress(text);
  return address?.startsWith('https:') ? address : undefined;
}

/** A publisher's link if it leads to the web, otherwise its text. */
export function webLink(address: string, text = address.replace(/^https?:\/\//, '')): Markup {
  const href = webAddress(address);
  if (href === undefined) return foreign(text);
  const shown = new Markup(foreign(text).text.replace(/(?<!<)\//g, '/<wbr>'));
  return html`<a href="${href}" rel="noopener noreferrer nofollow">${shown}</a>`;
}

/** The browser's own formats take a slow phone milliseconds each. */
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export function numberOf(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

const units = [
  [1_000_000_000, 'B'],
  [1_000_000, 'M'],
  [1000, 'k'],
] as const;

/** A large number in three digits, with the exact one behind it. */
export function compactNumber(count: number): Content {
  const [size, letter] = units.find(([unit]) => count >= unit) ?? [1, ''];
  if (letter === '') return numberOf(count);
  const share = count / size;
  const short = share >= 99.95 ? String(Math.round(share)) : share.toFixed(1).replace('.0', '');
  return html`<span title="${numberOf(count)}">${short}${letter}</span>`;
}

export function dateOf(timestamp: string | undefined): Markup | undefined {
  const date = new Date(timestamp ?? '');
  if (timestamp === undefined || Number.isNaN(date.getTime())) return undefined;
  const text = `${months[date.getUTCMonth()]} ${date.getUTCDate()}, ${date.getUTCFullYear()}`;
  return html`<time datetime="${timestamp}" title="${timestamp}">${text}</time>`;
}

/** The UTC day so many days ago. */
export function dayBefore(days: number, now = Date.now()): string {
  return new Date(now - days * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
}

export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const isLarge = bytes >= 1_000_000;
  return `${(bytes / (isLarge ? 1_000_000 : 1000)).toFixed(1)} ${isLarge ? 'MB' : 'kB'}`;
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${numberOf(count)} ${count === 1 ? one : many}`;
}

/** A list of names and values, without the empty ones. A string is a publisher's text. */
export function facts(entries: Record<string, Content>): Markup | undefined {
  const rows = Object.entries(entries).flatMap(([name, value]) => {
    if (value === undefined || value === '' || value === false) return [];
    const shown =
      typeof value === 'string' ? foreign(value) : typeof value === 'number' ? numberOf(value) : value;
    return html`<div><dt>${name}</dt><dd>${shown}</dd></div>`;
  });
  return rows.length > 0 ? html`<dl>${rows}</dl>` : undefined;
}

const hues = 24;
const maxHashed = 100;

/** One of the 24 hue classes, the same for the same text. */
export function hueOf(text: string): number {
  return [...text.slice(0, maxHashed)].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % hues, 7);
}

/** A publisher's picture over a tile with the first letter, which shows if the picture fails. */
export function icon(address: string | undefined, name: string, id = name): Markup {
  const [letter = '?'] = name.match(/[\p{L}\p{N}]/u) ?? [];
  const src = pictureAddress(address);
  const picture = src !== undefined && html`<img src="${src}" alt="" width="64" height="64" loading="lazy">`;
  return html`<span class="icon hue-${hueOf(id)}" aria-hidden="true">${letter.toUpperCase()}${picture}</span>`;
}
