import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import diff from 'highlight.js/lib/languages/diff';
import ini from 'highlight.js/lib/languages/ini';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import powershell from 'highlight.js/lib/languages/powershell';
import python from 'highlight.js/lib/languages/python';
import shell from 'highlight.js/lib/languages/shell';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { type Tokens, type TokensList, walkTokens } from 'marked';
import { within } from './within.ts';

const languages = { bash, diff, ini, javascript, json, powershell, python, shell, xml, yaml };
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);
highlighter.registerAliases(['ts', 'tsx', 'typescript'], { languageName: 'javascript' });

/** What does not fit loses its colors, never its text. */
const maxBlock = 20_000;

const kinds = `addition attr attribute built_in comment deletion keyword literal meta name number params quote regexp
  section selector-tag string symbol title type variable`;
/** The classes that a README's code may have; site.css has their colors. */
export const codeClasses: ReadonlySet<string> = new Set(kinds.split(/\s+/).map((kind) => `hljs-${kind}`));

/** The colored HTML of a block of code, for the renderer. */
export const colored = new WeakMap<object, string>();

/** Colors the blocks whose language is named and known. */
export function colorCode(tokens: TokensList, timeout: number): void {
  within(timeout, () => {
    void walkTokens(tokens, (token) => {
      if (token.type !== 'code') return;
      const { lang = '', text } = token as Tokens.Code;
      const [language = ''] = lang.toLowerCase().match(/^[\w+#-]+/) ?? [];
      if (text.length > maxBlock || !highlighter.getLanguage(language)) return;
      colored.set(token, highlighter.highlight(text, { language, ignoreIllegals: true }).value);
    });
  });
}
