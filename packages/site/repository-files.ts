import type { PublicVersion } from '@node-registry/registry-rules/schemas/index-files';
import { webAddress } from './templates/text.ts';

export interface ReadmePlace {
  /** The README's name in the pack. */
  path: string;
  repository: string | undefined;
  /** The version that brought it. */
  version?: Pick<PublicVersion, 'version' | 'provenance'> | undefined;
  /** What ids begin with. */
  prefix?: string;
}

/** Where a file of a repository is: its page, and its bytes if they are those of the version. */
interface Source {
  page: (path: string) => string | undefined;
  picture: (path: string) => string | undefined;
}

interface Host {
  /** What a URL has between the repository and the ref of a folder. */
  folder: RegExp;
  page: (root: string, ref: string, isCommit: boolean) => string;
  raw: (root: string, ref: string, isCommit: boolean) => string;
}

const hosts: Record<string, Host> = {
  'github.com': {
    folder: /\/tree\//,
    page: (root, ref) => `${root}/blob/${ref}/`,
    raw: (root, ref) => `${root.replace('github.com', 'raw.githubusercontent.com')}/${ref}/`,
  },
  'gitlab.com': {
    folder: /\/-\/tree\//,
    page: (root, ref) => `${root}/-/blob/${ref}/`,
    raw: (root, ref) => `${root}/-/raw/${ref}/`,
  },
  'codeberg.org': {
    folder: /\/src\/(?:tag|branch|commit)\//,
    page: (root, ref, isCommit) => `${root}/src/${isCommit ? 'commit' : 'tag'}/${ref}/`,
    raw: (root, ref, isCommit) => `${root}/raw/${isCommit ? 'commit' : 'tag'}/${ref}/`,
  },
};

/**
 * The files of a README's repository, at the commit of the version's job or at a tag that the repository's URL
 * names. Undefined if the host is unknown. Pictures of another state could be others, so they are linked only.
 */
export function sourceOf({ repository, version }: ReadmePlace): Source | undefined {
  const url = URL.parse(webAddress(repository) ?? '');
  const host =
    url?.protocol === 'https:' && Object.hasOwn(hosts, url.hostname) ? hosts[url.hostname] : undefined;
  if (!url || !host) return undefined;
  const [path = '', rest = ''] = url.pathname.split(host.folder);
  const root = `https://${url.hostname}${path.replace(/(?:\.git)?\/*$/, '')}`;
  if (path.split('/').filter(Boolean).length < 2) return undefined;
  const [tag = '', ...folder] = rest.split('/').filter(Boolean);
  const { commit = '', repository: built } = version?.provenance ?? {};
  const isCommit = /^[0-9a-f]{40}$/.test(commit) && root.toLowerCase().endsWith(`/${built?.toLowerCase()}`);
  const label = String(version?.version);
  const isTag = version !== undefined && (tag === label || tag === `v${label}`);
  const ref = isCommit ? commit : isTag ? tag : undefined;
  const inFolder = (base: string, link: string) => {
    const start = link.startsWith('/') ? base : `${base}${folder.map((each) => `${each}/`).join('')}`;
    const address = URL.parse(link.replace(/^\/+/, ''), start)?.href;
    return link !== '' && address?.startsWith(base) ? address : undefined;
  };
  return {
    page: (link) =>
      ref === undefined && url.hostname === 'codeberg.org'
        ? undefined
        : inFolder(host.page(root, ref ?? 'HEAD', isCommit), link),
    picture: (link) => (ref === undefined ? undefined : inFolder(host.raw(root, ref, isCommit), link)),
  };
}
