import { element, webAddress } from './elements.ts';

/** A publisher's picture, or the first letter if there is none that can be shown. */
export function icon(address: string | undefined, name: string): HTMLElement {
  const [letter = '?'] = name.match(/[\p{L}\p{N}]/u) ?? [];
  const tile = element('span', { className: 'icon', ariaHidden: 'true' }, letter.toUpperCase());
  const src = webAddress(address);
  if (src === undefined) return tile;
  const picture = element('img', { className: 'icon', src, alt: '', width: 40, height: 40, loading: 'lazy' });
  picture.onerror = () => picture.replaceWith(tile);
  return picture;
}
