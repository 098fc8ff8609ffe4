import type { IndexedNode, PublicIndex } from 'registry-client';
import { element, withoutTurns } from './elements.ts';
import { failure } from './failure.ts';

/** The README of the latest version. The code that renders Markdown is loaded for a node that has one. */
export function readmeSection(index: PublicIndex, { id = '', repository }: IndexedNode): HTMLElement {
  const content = element('div');
  const section = element('section', { ariaLabel: 'README' }, element('h2', {}, 'README'), content);
  const load = async () => {
    content.replaceChildren(element('p', { className: 'quiet', role: 'status' }, 'Loading the README…'));
    try {
      const { text = '', path = '', is_cut } = (await index.readme(id)) ?? {};
      if (!text) return section.remove();
      const shown = /\.(?:rst|txt)$/i.test(path)
        ? element('pre', { tabIndex: 0 }, withoutTurns(text))
        : (await import('./readme.ts')).renderReadme(text, { path, repository });
      content.replaceChildren(element('div', { className: 'readme' }, shown));
      if (is_cut) content.append(element('p', { className: 'quiet' }, 'The rest of it is in the archive.'));
    } catch (error) {
      content.replaceChildren(failure(error, load));
    }
  };
  void load();
  return section;
}
