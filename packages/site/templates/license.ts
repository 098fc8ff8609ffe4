import { html } from './markup.ts';
import { foreign, webAddress } from './text.ts';

/** Those that most packages name; any other text is shown as it is. */
const known = new Set(
  `0BSD AGPL-3.0 AGPL-3.0-only AGPL-3.0-or-later Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause BSL-1.0 CC-BY-4.0
  CC-BY-NC-4.0 CC-BY-NC-SA-4.0 CC-BY-SA-4.0 CC0-1.0 EPL-2.0 EUPL-1.2 GPL-2.0 GPL-2.0-only GPL-2.0-or-later GPL-3.0
  GPL-3.0-only GPL-3.0-or-later ISC LGPL-2.1 LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0 LGPL-3.0-only
  LGPL-3.0-or-later MIT MIT-0 MPL-2.0 MS-PL OFL-1.1 OSL-3.0 PostgreSQL PSF-2.0 Python-2.0 Unlicense WTFPL Zlib`.split(
    /\s+/,
  ),
);

/**
 * A license is a path in the repository, an SPDX name, or the form that a pyproject.toml has:
 * `{"file": "LICENSE"}`, `{text = "MIT"}`. It is shown to people, and its text's URL told to programs.
 */
export function licenseOf(license: string | undefined, repository: string | undefined) {
  if (!license) return undefined;
  const [, , inner] = /^\{\s*"?(file|text)"?\s*[:=]\s*"([^"]*)"\s*\}$/.exec(license.trim()) ?? [];
  const text = (inner ?? license).trim();
  const spdx = [...known].find((name) => name.toLowerCase() === text.toLowerCase());
  const url = spdx !== undefined ? `https://spdx.org/licenses/${spdx}.html` : fileAddress(text, repository);
  const name = foreign(spdx ?? text);
  return {
    shown: url === undefined ? name : html`<a href="${url}" rel="noopener noreferrer nofollow">${name}</a>`,
    url,
  };
}

function fileAddress(path: string, repository: string | undefined): string | undefined {
  if (webAddress(path) !== undefined) return webAddress(path);
  const root = webAddress(repository)?.replace(/[?#].*$|(?:\.git)?\/*$/g, '');
  if (!root || /\s/.test(path) || !/license|licence|copying|unlicense|[./]/i.test(path)) return undefined;
  const address = URL.parse(path.replace(/^\/+/, ''), `${root}/blob/HEAD/`)?.href;
  return address?.startsWith(`${root}/blob/HEAD/`) ? address : undefined;
}
