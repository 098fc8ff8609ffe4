import type { IndexedNode } from '../../registry-client/public-index.ts';
import { element } from './elements.ts';

/** The README of the latest version. The code that renders Markdown is loaded for a node that has one. */
export function readmeSection({ readme }: IndexedNode & { readme?: string }): HTMLElement[] {
  if (!readme) return [];
  const content = element('div', { className: 'readme', ariaBusy: 'true' });
  void import('./readme.ts')
    .then(({ renderReadme }) => content.replaceChildren(renderReadme(readme)))
    // It is a text that people can read as it is.
    .catch(() => content.replaceChildren(element('pre', { tabIndex: 0 }, readme)))
    .finally(() => {
      content.ariaBusy = null;
    });
  return [element('section', { ariaLabel: 'README' }, element('h2', {}, 'README'), content)];
}
