import { expect, test } from '@jest/globals';
import { fc } from '@node-registry/testing/properties';
import { check } from '@node-registry/testing/property-runs';
import { type DefaultTreeAdapterTypes, parseFragment, serialize } from 'parse5';
import { codeClasses } from '../code-colors.ts';
import { renderReadme } from '../readme.ts';

type Node = DefaultTreeAdapterTypes.ChildNode | DefaultTreeAdapterTypes.DocumentFragment;

const parts =
  `< > " ' = & ; / \` * _ # [ ] ( ) ! | ~ - \n \n\n > - [^1] [^1]: <a href= <a href=javascript:alert(1)> <img src= <img src=x.png onerror=alert(1)> <svg> <math> <mtext> <mglyph>
  <span class=x> <span class=hljs-title> <style> </style> <script> </script> <title> <textarea> <noscript> <template> <table> <tr> <td> <select> <option> <p> </p> <b> <i>
  </b> <h1> </h1> <details open> <summary> <input type=checkbox checked> <!-- --> <![CDATA[ ]]> <?x ?> javascript:alert(1) data:text/html,x
  https://x.example/ http://x.example/ //x.example ../../../ onerror=alert(1) style=x id=main name=x class=hljs-title class=x
  &#x6a;avascript: &lt;img &colon; &Tab; &#0; \u0000 \u202e \u200b \`\`\`js \`\`\`html const [x](#y) ![x](y.png) 字 🎬`.split(
    /(?<!\n) +|\n +/,
  );
const places = [
  { path: 'README.md', repository: undefined },
  {
    path: 'README.md',
    repository: 'https://github.com/acme/blend',
    version: { version: '1.0.0', provenance: { commit: 'ab'.repeat(20), repository: 'acme/blend' } as never },
  },
];
const plainElements =
  `a abbr b blockquote br caption center code dd del details div dl dt em h3 h4 h5 h6 hr i img ins kbd li ol p pre
  q s samp small span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var`.split(
    /\s+/,
  );
const values: Record<string, RegExp> = {
  href: /^(?:https?:\/\/|#readme-)/,
  src: /^https:\/\//,
  id: /^readme-/,
  class: new RegExp(`^(?:h[1-6]|${[...codeClasses].join('|')})$`),
  align: /^/,
  alt: /^/,
  colspan: /^/,
  dir: /^/,
  height: /^/,
  loading: /^lazy$/,
  open: /^/,
  rel: /^noopener/,
  rowspan: /^/,
  start: /^/,
  tabindex: /^0$/,
  title: /^/,
  width: /^/,
};

function faults(node: Node): string[] {
  const own =
    'tagName' in node
      ? [
          ...(plainElements.includes(node.tagName) ? [] : [node.tagName]),
          ...node.attrs.flatMap(({ name, value }) => (values[name]?.test(value) ? [] : [`${name}=${value}`])),
        ]
      : node.nodeName === '#comment'
        ? ['comment']
        : [];
  return [...own, ...('childNodes' in node ? node.childNodes.flatMap(faults) : [])];
}

test('a browser’s parser finds only listed elements, attributes, classes and addresses, and the same in its own text', async () => {
  const text = fc.array(fc.constantFrom(...parts, ' '), { maxLength: 40 }).map((some) => some.join(''));
  await check(
    fc.tuple(text, fc.constantFrom(...places)),
    async ([source, place]) => {
      const tree = parseFragment(renderReadme(source, place));

      expect(faults(tree)).toEqual([]);
      expect(faults(parseFragment(serialize(tree)))).toEqual([]);
    },
    { weight: 60 },
  );
});
