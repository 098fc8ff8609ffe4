import { type BuiltFile, buildSite, bundlePages, toFile } from './build.ts';
import { layout, plainSite, type Site } from './templates/layout.ts';
import { html } from './templates/markup.ts';

export const accountPage = 'account/index.html';

/** What the page talks to. */
export interface AccountOrigins {
  apiUrl: string;
  /** The issuer, and the other origins of its endpoints. */
  issuers: readonly string[];
}

/** The headers of every file on the origin where people's tokens are. */
export function accountHeaders(origins: AccountOrigins): Record<string, string> {
  const policy = [
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'`,
    `connect-src 'self' ${originsOf(origins).join(' ')}`,
    `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    `require-trusted-types-for 'script'; trusted-types 'none'`,
  ];
  return {
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

/** A policy takes a path as the whole path. */
function originsOf({ apiUrl, issuers }: AccountOrigins): string[] {
  return [...new Set([apiUrl, ...issuers].map((address) => new URL(address).origin))];
}

/** The files of the page for accounts. Nothing that a publisher wrote is among them. */
export async function buildAccount(
  origins: AccountOrigins,
  site: Site = plainSite,
  accent?: string,
): Promise<BuiltFile[]> {
  const made = await bundlePages(
    new URL('account/', import.meta.url),
    ['account.tsx', 'account.css'],
    'account-third-party.txt',
  );
  const own = (await buildSite(site, accent)).filter(({ path }) => /\/(?:site\.css|icon\.png)$/.test(path));
  const page = layout(
    { ...site, url: undefined, logo: undefined },
    {
      title: 'Account',
      description: 'Publishers, tokens, members and what you spend.',
      isListed: false,
      script: 'account.js',
      style: 'account.css',
      nav: site.url === undefined ? {} : { 'The registry': site.url },
      origins: originsOf(origins),
      main: html`<div id="account"><noscript><p class="empty">This page needs scripts. The command does without: publish-node login.</p></noscript></div>`,
    },
  );
  return [
    ...own,
    ...made,
    toFile('account/config.json', Buffer.from(JSON.stringify({ apiUrl: origins.apiUrl })), 60),
    toFile(accountPage, Buffer.from(page), 60),
  ];
}
