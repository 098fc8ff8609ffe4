import { Marked, type TokensList } from 'marked';
import { codeClasses, colorCode, colored } from './code-colors.ts';
import { readTags, type Tag } from './read-tags.ts';
import { type ReadmePlace, sourceOf } from './repository-files.ts';
import { html, type Markup } from './templates/markup.ts';
import { decodedPart, pictureAddress, webAddress, withoutTurns } from './templates/text.ts';
import { within } from './within.ts';

/*
 * A publisher's Markdown as passive HTML. It is made when it is written, once for all readers, and without a
 * DOM: this writes every tag and attribute of the result, and every other `<` is text. None of the allowed
 * elements changes how a browser parses its content.
 */

const markdown = new Marked({ gfm: true, async: false });
markdown.use({
  renderer: {
    code(token) {
      const content = colored.get(token);
      return content === undefined ? false : `<pre><code>${content}\n</code></pre>\n`;
    },
    blockquote({ tokens, text }) {
      const [, kind] = /^\[!(note|tip|important|warning|caution)\]/i.exec(text) ?? [];
      if (kind === undefined) return false;
      const title = `<strong>${kind.charAt(0).toUpperCase()}${kind.slice(1).toLowerCase()}</strong>`;
      return `<blockquote>\n${this.parser.parse(tokens).replace(/\[!\w+\](?:<br>)?/, `${title}<br>`)}</blockquote>\n`;
    },
  },
  extensions: [
    {
      name: 'footnote',
      level: 'block',
      start: (source) => /^\[\^[\w-]+\]:/m.exec(source)?.index,
      tokenizer(source) {
        const [raw, label, text = ''] = /^\[\^([\w-]{1,50})\]:[ \t]+(\S[^\n]*)(?:\n|$)/.exec(source) ?? [];
        if (raw === undefined) return undefined;
        return { type: 'footnote', raw, label, tokens: this.lexer.inlineTokens(text) };
      },
      renderer({ label, tokens = [] }) {
        return `<p id="fn-${label}"><sup>${label}</sup> ${this.parser.parseInline(tokens)}</p>\n`;
      },
    },
    {
      name: 'footnoteMark',
      level: 'inline',
      start: (source) => source.indexOf('[^'),
      tokenizer(source) {
        const [raw, label] = /^\[\^([\w-]{1,50})\]/.exec(source) ?? [];
        return raw === undefined ? undefined : { type: 'footnoteMark', raw, label };
      },
      renderer: ({ label }) => `<sup><a href="#fn-${label}">${label}</a></sup>`,
    },
  ],
});

/** Deeper than any real text, and shallow for a browser. */
const maxDepth = 40;
const maxLength = 400_000;
/** Some texts take a parser seconds, or minutes: a hundred thousand stars. */
const maxMs = 700;
const colorShare = 150 / 700;

const plainTags = `abbr b blockquote center code dd del details div dl dt em i ins kbd li ol p pre q s samp small span strike
  strong sub summary sup table tbody td tfoot th thead tr tt u ul var`;
const allowed = new Set(`a img h1 h2 h3 h4 h5 h6 br hr ${plainTags}`.split(/\s+/));
const alone = new Set(['br', 'hr', 'img']);
/** Elements whose content isn't text for readers. */
const dropped = new Set('script style title textarea template noscript iframe svg math select'.split(' '));
const attributes: Record<string, RegExp> = {
  align: /^(?:left|center|right)$/,
  colspan: /^\d{1,3}$/,
  rowspan: /^\d{1,3}$/,
  start: /^\d{1,9}$/,
  height: /^\d{1,4}%?$/,
  width: /^\d{1,4}%?$/,
  alt: /^/,
  dir: /^(?:ltr|rtl|auto)$/,
  open: /^/,
  title: /^/,
};
/** They have the direction of their own first letter, their bullets and bars too. A paragraph has it by the style. */
const ownDirection = new Set(['ul', 'ol', 'dl', 'blockquote', 'table']);

/** Empty if it should be shown as plain text: it isn't Markdown, or too long. */
export function renderReadme(text: string, place: ReadmePlace, timeout = maxMs): string {
  if (/\.(?:rst|txt)$/i.test(place.path)) return '';
  const began = performance.now();
  const tokens = within(timeout, () => markdown.lexer(text)) as TokensList | undefined;
  if (!tokens) return '';
  const parsed = performance.now() - began;
  colorCode(tokens, timeout * colorShare);
  const rest = Math.max(1, timeout - parsed);
  const rendered = within(rest, () => sanitize(markdown.parser(tokens), { prefix: 'readme-', ...place }));
  return rendered !== undefined && rendered.length <= maxLength ? rendered : '';
}

type Place = ReadmePlace & { prefix: string };
type Given = Record<string, string | undefined>;

/** The allowed part of some HTML, with every element closed. */
function sanitize(source: string, place: Place): string {
  const open: { name: string; end: string; content: number }[] = [];
  const used = new Map<string, number>();
  let text = '';
  let level = 2;
  /** A heading's text gives its id. */
  const addId = (content: number) => {
    const slug = slugOf(text.slice(content).replace(/<[^>]*>/g, ''));
    const count = used.get(slug) ?? 0;
    used.set(slug, count + 1);
    const id = html` id="${place.prefix}${slug}${count > 0 && `-${count}`}"`;
    text = `${text.slice(0, content - 1)}${id.text}${text.slice(content - 1)}`;
  };
  const closeFrom = (depth: number) => {
    for (const { name, end, content } of open.splice(depth).reverse()) {
      if (isHeading(name)) addId(content);
      text += end;
    }
  };
  for (const read of readTags(source, dropped)) {
    if (typeof read === 'string') text += escapedText(read);
    else if (read.name === 'input') text += taskMark(read);
    else if (read.isEnd) {
      const depth = open.findLastIndex(({ name }) => name === read.name);
      if (depth >= 0) closeFrom(depth);
    } else if (allowed.has(read.name)) {
      // Below the section's heading, without skipping a level.
      if (isHeading(read.name)) level = Math.min(Number(read.name[1]) + 2, level + 1, 6);
      const { start, end } = writtenTag(read, place, level);
      if (!alone.has(read.name) && open.length >= maxDepth) continue;
      text += start.text;
      if (!alone.has(read.name)) open.push({ name: read.name, end, content: text.length });
    }
  }
  closeFrom(0);
  return text;
}

/** A task of a list. */
function taskMark({ attributes: { type, checked } }: Tag): string {
  if (type !== 'checkbox') return '';
  return checked === undefined ? '☐' : '☑';
}

interface Written {
  start: Markup;
  end: string;
}

function isHeading(name: string): boolean {
  return /^h[1-6]$/.test(name);
}

function writtenTag(tag: Tag, place: Place, level: number): Written {
  const { name } = tag;
  const given: Given = Object.fromEntries(
    Object.entries(tag.attributes).map(([key, value]) => [key, withoutTurns(plainText(value))]),
  );
  const safe = Object.entries(given)
    .filter(([key, value = '']) => Object.hasOwn(attributes, key) && attributes[key]?.test(value))
    .map(([key, value]) => html` ${key}="${value}"`);
  const id = given.id ?? (name === 'a' ? given.name : undefined);
  // A heading gets its id from its text.
  if (id && !isHeading(name)) safe.push(html` id="${place.prefix}${slugOf(id)}"`);
  if (ownDirection.has(name) && !given.dir) safe.push(html` dir="auto"`);
  if (name === 'a') return writtenLink(given, safe, place);
  if (name === 'img') return { start: pictureOf(given, safe, place), end: '' };
  const [color = ''] = given.class?.split(' ') ?? [];
  if (name === 'span' && codeClasses.has(color))
    return { start: html`<span class="${color}">`, end: '</span>' };
  const own = isHeading(name) ? `h${level}` : name;
  if (isHeading(name)) safe.push(html` class="${name}"`);
  // If wider than a phone, they scroll by themselves, including by keyboard.
  if (name === 'pre' || name === 'table') safe.push(html` tabindex="0"`);
  return { start: html`<${own}${safe}>`, end: alone.has(name) ? '' : `</${own}>` };
}

/** A link to a part of the page, to the web or to a file of the repository; otherwise its text. */
function writtenLink({ href = '' }: Given, safe: readonly Markup[], place: Place): Written {
  const part = href.startsWith('#') ? href.slice(1) : '';
  if (part) {
    const start = html`<a href="#${place.prefix}${slugOf(decodedPart(part))}"${safe}>`;
    return { start, end: '</a>' };
  }
  const address = webAddress(href) ?? sourceOf(place)?.page(href);
  if (address === undefined) return { start: html`<span${safe}>`, end: '</span>' };
  const start = html`<a href="${address}"${safe} rel="noopener noreferrer nofollow">`;
  return { start, end: '</a>' };
}

/** A picture, a link to one that may be another by now, or its text. */
function pictureOf({ src: from = '', alt }: Given, safe: readonly Markup[], place: Place): Markup {
  const source = sourceOf(place);
  const src = pictureAddress(from) ?? source?.picture(from);
  if (src !== undefined)
    return html`<img src="${src}"${safe}${alt === undefined && html` alt=""`} loading="lazy">`;
  const page = source?.page(from);
  if (page === undefined) return html`${alt}`;
  return html`<a href="${page}" rel="noopener noreferrer nofollow">${alt || from}</a>`;
}

/** As GitHub makes them: letters, digits, hyphens and underscores. */
function slugOf(text: string): string {
  const plain = withoutTurns(plainText(text)).trim().toLowerCase();
  return plain
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-')
    .slice(0, 100)
    .toWellFormed();
}

/** Text with its character references, except those for characters that change its direction. */
function escapedText(text: string): string {
  const plain = text.replace(reference, (whole) => (withoutTurns(decoded(whole)) === '' ? '' : whole));
  return withoutTurns(plain).replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const reference = /&(?:#x[0-9a-f]{1,6}|#\d{1,7}|lrm|rlm|ZeroWidthSpace|NoBreak);?/gi;
const named: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  colon: ':',
  Tab: '\t',
  NewLine: '\n',
  lrm: '\u200e',
  rlm: '\u200f',
  ZeroWidthSpace: '\u200b',
  NoBreak: '\u2060',
  nbsp: '\u00a0',
};

function decoded(whole: string): string {
  const name = whole.replace(/^&|;$/g, '');
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  if (name.startsWith('#')) return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  return (Object.hasOwn(named, name) ? named[name] : undefined) ?? whole;
}

/** The value of an attribute. It is escaped again as a whole, so an unknown name stays as written. */
function plainText(value: string): string {
  return value.replace(/&(?:#x[0-9a-f]{1,6}|#\d{1,7}|\w{1,20});?/gi, decoded);
}
