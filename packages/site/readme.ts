import { runInNewContext } from 'node:vm';
import { Marked } from 'marked';
import { readTags, type Tag } from './read-tags.ts';
import { html } from './templates/markup.ts';
import { pictureAddress, webAddress, withoutTurns } from './templates/text.ts';

/*
 * A publisher's Markdown as passive HTML. It is made when it is written, once for all readers, and without a
 * DOM: this writes every tag and attribute of the result, and every other `<` is text. None of the allowed
 * elements changes how a browser parses its content.
 */

const markdown = new Marked({ gfm: true, async: false });

/** Deeper than any real text, and shallow for a browser. */
const maxDepth = 40;
const maxLength = 400_000;
/** Some texts take a parser seconds, or minutes: a hundred thousand stars. */
const maxMs = 700;

const plainTags = `abbr b blockquote center code dd del details div dl dt em i ins kbd li ol p pre q s samp small span strike
  strong sub summary sup table tbody td tfoot th thead tr tt u ul var`;
const allowed = new Set(`a img h1 h2 h3 h4 h5 h6 br hr ${plainTags}`.split(/\s+/));
const alone = new Set(['br', 'hr', 'img']);
/** Elements whose content isn't text for readers. */
const dropped = new Set('script style title textarea template noscript iframe svg math select'.split(' '));
const attributes: Record<string, RegExp> = {
  align: /^(?:left|center|right)$/,
  ...{ colspan: /^\d{1,3}$/, rowspan: /^\d{1,3}$/, start: /^\d{1,9}$/ },
  ...{ height: /^\d{1,4}%?$/, width: /^\d{1,4}%?$/ },
  ...{ alt: /^/, dir: /^(?:ltr|rtl|auto)$/, open: /^/, title: /^/ },
};

export interface ReadmePlace {
  /** The README's name in the pack. */
  path: string;
  repository: string | undefined;
}

/** Empty if it should be shown as plain text: it isn't Markdown, or too long. */
export function renderReadme(text: string, place: ReadmePlace): string {
  if (/\.(?:rst|txt)$/i.test(place.path)) return '';
  const rendered = within(maxMs, () => sanitize(markdown.parse(text) as string, place));
  return rendered !== undefined && rendered.length <= maxLength ? rendered : '';
}

/** Undefined if the work takes longer, or fails: only a script with a limit can be stopped while it runs. */
function within<Result>(timeout: number, work: () => Result): Result | undefined {
  try {
    return runInNewContext('work()', { work }, { timeout }) as Result;
  } catch {
    return undefined;
  }
}

/** The allowed part of some HTML, with every element closed. */
export function sanitize(source: string, place: ReadmePlace): string {
  const open: Written[] = [];
  let text = '';
  let level = 2;
  const close = (count: number) => {
    for (const { end } of open.splice(open.length - count).reverse()) text += end;
  };
  readTags(source, dropped, {
    text: (some) => {
      text += escapedText(some);
    },
    tag: (tag) => {
      if (!allowed.has(tag.name)) return;
      if (tag.isEnd) {
        const depth = open.findLastIndex(({ name }) => name === tag.name);
        if (depth >= 0) close(open.length - depth);
        return;
      }
      // Below the section's heading, without skipping a level.
      if (isHeading(tag.name)) level = Math.min(Number(tag.name[1]) + 2, level + 1, 6);
      const written = writtenTag(tag, place, level);
      if (alone.has(tag.name)) text += written.start;
      else if (open.length < maxDepth) {
        text += written.start;
        open.push(written);
      }
    },
  });
  close(open.length);
  return text;
}

interface Written {
  name: string;
  start: string;
  end: string;
}

function isHeading(name: string): boolean {
  return /^h[1-6]$/.test(name);
}

function writtenTag(tag: Tag, place: ReadmePlace, level: number): Written {
  const { name } = tag;
  const given = Object.fromEntries(
    Object.entries(tag.attributes).map(([key, value]) => [key, withoutTurns(plainText(value))]),
  );
  const safe = Object.entries(given)
    .filter(([key, value]) => Object.hasOwn(attributes, key) && attributes[key]?.test(value))
    .map(([key, value]) => html` ${key}="${value}"`);
  if (name === 'a') {
    const href = webAddress(given.href) ?? addressInRepository(given.href ?? '', place);
    // A part of the README has no URL of its own.
    if (href === undefined) return { name, start: '<span>', end: '</span>' };
    return {
      name,
      start: html`<a href="${href}"${safe} rel="noopener noreferrer nofollow">`.text,
      end: '</a>',
    };
  }
  if (name === 'img') {
    const src = pictureAddress(given.src);
    const alt = given.alt === undefined ? html` alt=""` : undefined;
    const start =
      src === undefined ? html`${given.alt}` : html`<img src="${src}"${safe}${alt} loading="lazy">`;
    return { name, start: start.text, end: '' };
  }
  const own = isHeading(name) ? `h${level}` : name;
  // If wider than a phone, they scroll by themselves, including by keyboard.
  const focus = name === 'pre' || name === 'table' ? html` tabindex="0"` : undefined;
  return { name, start: `<${own}${html`${safe}${focus}`.text}>`, end: `</${own}>` };
}

/** Text with its character references, except those for characters that change its direction. */
function escapedText(text: string): string {
  const plain = text.replace(reference, (whole) => (withoutTurns(decoded(whole)) === '' ? '' : whole));
  return withoutTurns(plain).replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const reference = /&(?:#x[0-9a-f]{1,6}|#\d{1,7}|lrm|rlm|ZeroWidthSpace|NoBreak);?/gi;
const named: Record<string, string> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", colon: ':', Tab: '\t', NewLine: '\n' },
  ...{ lrm: '\u200e', rlm: '\u200f', ZeroWidthSpace: '\u200b', NoBreak: '\u2060', nbsp: '\u00a0' },
};

function decoded(whole: string): string {
  const name = whole.replace(/^&|;$/g, '');
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  if (name.startsWith('#')) return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  return named[name] ?? whole;
}

/** The value of an attribute. It is escaped again as a whole, so an unknown name stays as written. */
function plainText(value: string): string {
  return value.replace(/&(?:#x[0-9a-f]{1,6}|#\d{1,7}|\w{1,20});?/gi, decoded);
}

/** The URL where GitHub and GitLab show a file of the latest commit. Undefined if outside the repository. */
function addressInRepository(link: string, { path, repository }: ReadmePlace): string | undefined {
  const root = webAddress(repository)?.replace(/[?#].*$|(?:\.git)?\/*$/g, '');
  if (!root?.startsWith('https:') || link === '' || link.startsWith('#')) return undefined;
  const files = `${root}/blob/HEAD/`;
  const base = link.startsWith('/') ? files : URL.parse(path, files)?.href;
  const address = URL.parse(link.replace(/^\/(?!\/)/, ''), base)?.href;
  return address?.startsWith(`${root}/`) ? address : undefined;
}
