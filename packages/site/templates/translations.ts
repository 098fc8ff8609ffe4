import type { IndexedNode } from '@node-registry/registry-rules/schemas/index-files';
import { type Content, html, type Markup } from './markup.ts';
import { foreign, lines } from './text.ts';

const maxLanguages = 20;
const maxFields = 20;
const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** A language's tag in the form of BCP 47, with its English name; undefined for any other text. */
function languageOf(tag: string): { tag: string; name: string } | undefined {
  try {
    const [known = ''] = Intl.getCanonicalLocales(tag.replaceAll('_', '-'));
    const name = names.of(known);
    return name === undefined ? undefined : { tag: known, name };
  } catch {
    return undefined;
  }
}

/**
 * A node's texts in other languages, each named in words: by field, or one that describes the node. The script puts the
 * name and description of the visitor's language in their places.
 */
export function translationList(translations: IndexedNode['translations']): Content {
  const languages = Object.entries(translations ?? {}).slice(0, maxLanguages);
  const items = languages.flatMap(([key, value]) => {
    const fields = typeof value === 'object' && value !== null ? value : { description: value };
    const texts = Object.entries<unknown>(fields).filter(([, text]) => typeof text === 'string');
    if (texts.length === 0) return [];
    const language = languageOf(key);
    const lang = language && html` lang="${language.tag}"`;
    const rows = texts
      .slice(0, maxFields)
      .map(
        ([field, text]) =>
          html`<div><dt>${inWords(field)}</dt><dd data-field="${field}"${lang} dir="auto">${lines(String(text))}</dd></div>`,
      );
    return html`<details class="translation"${lang && html` data-language="${language?.tag}"`}><summary>${foreign(language?.name ?? key)}</summary><dl class="stacked">${rows}</dl></details>`;
  });
  return items.length === 0 ? undefined : items;
}

/** `supported_os` becomes `Supported os`. */
function inWords(field: string): Markup {
  const text = field.replace(/[_-]+/g, ' ').trim();
  return foreign(text.charAt(0).toUpperCase() + text.slice(1));
}
