import purifier from 'dompurify';
import { Marked } from 'marked';
import { element, webAddress, withoutTurns } from './elements.ts';

const markdown = new Marked({ gfm: true, async: false });

purifier.addHook('uponSanitizeElement', (node) => {
  if (node instanceof Text) node.data = withoutTurns(node.data);
});
purifier.addHook('uponSanitizeAttribute', (_, attribute) => {
  attribute.attrValue = withoutTurns(attribute.attrValue);
});

/** Neither forms nor styles, nor names by which a script of the page would find a publisher's element for its own. */
const allowed = {
  ALLOWED_TAGS: [
    ...[
      'a',
      'abbr',
      'b',
      'blockquote',
      'br',
      'center',
      'code',
      'dd',
      'del',
      'details',
      'div',
      'dl',
      'dt',
      'em',
    ],
    ...[
      'h1',
      'h2',
      'h3',
      'h4',
      'h5',
      'h6',
      'hr',
      'i',
      'img',
      'ins',
      'kbd',
      'li',
      'ol',
      'p',
      'pre',
      'q',
      's',
      'samp',
    ],
    ...[
      'small',
      'span',
      'strike',
      'strong',
      'sub',
      'summary',
      'sup',
      'table',
      'tbody',
      'td',
      'tfoot',
      'th',
      'thead',
    ],
    ...['tr', 'tt', 'u', 'ul', 'var'],
  ],
  ALLOWED_ATTR: [
    'align',
    'alt',
    'colspan',
    'dir',
    'height',
    'href',
    'open',
    'rowspan',
    'src',
    'start',
    'title',
    'width',
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} as const;

interface Place {
  /** The README's name in the pack. */
  path: string;
  repository: string | undefined;
}

/** A publisher's Markdown as elements that can do nothing but be read. */
export function renderReadme(text: string, place: Place): DocumentFragment {
  const html = markdown.parse(text) as string;
  // The page's policy allows a single purifier.
  const fragment = purifier.sanitize(html, {
    ...allowed,
    ALLOWED_TAGS: [...allowed.ALLOWED_TAGS],
    ALLOWED_ATTR: [...allowed.ALLOWED_ATTR],
  });
  limitLinks(fragment, place);
  limitPictures(fragment);
  nestHeadings(fragment);
  // Wider than a phone, they scroll by themselves, also by keyboard.
  for (const wide of fragment.querySelectorAll<HTMLElement>('pre, table')) wide.tabIndex = 0;
  return fragment;
}

/** A part of the page has no address here, as the hash is that of the page itself. */
function limitLinks(fragment: DocumentFragment, place: Place): void {
  for (const link of fragment.querySelectorAll('a')) {
    const given = link.getAttribute('href') ?? '';
    const href = webAddress(given) ?? addressInRepository(given, place);
    if (href === undefined) {
      link.replaceWith(...link.childNodes);
      continue;
    }
    link.href = href;
    link.rel = 'noopener noreferrer nofollow';
    const picture = link.querySelector('img[alt]:not([alt=""])');
    if (!link.textContent?.trim() && !picture) link.ariaLabel = link.hostname;
  }
}

/** Where GitHub and GitLab show a file of the latest commit. Undefined if the link does not stay in the repository. */
function addressInRepository(link: string, { path, repository }: Place): string | undefined {
  const root = webAddress(repository)?.replace(/[?#].*$|(?:\.git)?\/*$/g, '');
  if (!root?.startsWith('https:') || link === '' || link.startsWith('#')) return undefined;
  const files = `${root}/blob/HEAD/`;
  const base = link.startsWith('/') ? files : URL.parse(path, files)?.href;
  const address = URL.parse(link.replace(/^\/(?!\/)/, ''), base)?.href;
  return address?.startsWith(`${root}/`) ? address : undefined;
}

function limitPictures(fragment: DocumentFragment): void {
  for (const picture of fragment.querySelectorAll('img')) {
    const src = webAddress(picture.getAttribute('src') ?? undefined);
    picture.alt ||= '';
    if (src === undefined) picture.replaceWith(picture.alt);
    else picture.loading = 'lazy';
  }
}

/** Below the heading of the section, and none skips a level. */
function nestHeadings(fragment: DocumentFragment): void {
  let level = 2;
  for (const heading of fragment.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    if (!heading.textContent?.trim() && !heading.querySelector('img[alt]:not([alt=""])')) {
      heading.replaceWith(...heading.childNodes);
      continue;
    }
    level = Math.min(Number(heading.tagName[1]) + 2, level + 1, 6);
    heading.replaceWith(element(`h${level}` as 'h3', {}, ...heading.childNodes));
  }
}
