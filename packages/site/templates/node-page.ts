import type {
  IndexedHostNodes,
  IndexedNode,
  IndexedReadme,
  PublicVersion,
} from '@node-registry/registry-rules/schemas/index-files';
import { downloadsLine } from './downloads-line.ts';
import { nodeAddress, publisherLink, tagList } from './entry.ts';
import { hostNodeSection } from './host-nodes.ts';
import { installSection } from './install.ts';
import { layout, partStyles, type Site } from './layout.ts';
import { licenseOf } from './license.ts';
import { type Content, html, Markup } from './markup.ts';
import { renderReadme } from '../readme.ts';
import { scriptLanguage } from './script-language.ts';
import { shortNames } from './runs-on.ts';
import { badge, countOf, dateOf, facts, folded, foreign, icon, lines, notice, visibleText } from './text.ts';
import { numberOf, pictureAddress, sizeOf, webAddress, webLink } from './text.ts';
import { translationList } from './translations.ts';

export interface NodeFiles {
  node: IndexedNode;
  hostNodes?: IndexedHostNodes | undefined;
  readme?: IndexedReadme | undefined;
}

/** The page of a node, with all data of the index about it and its latest version. */
export function nodePage(site: Site, files: NodeFiles, now = Date.now()): string {
  const { node } = files;
  return layout(site, {
    ...headOf(node, node.latest_version),
    path: nodeAddress(String(node.id)),
    main: isBanned(node) ? bannedPage(node) : parts(site, files, node.latest_version, now),
  });
}

/** The page of a version. If the version is no longer offered, the page says so. */
export function versionPage(site: Site, files: NodeFiles, label: string, now = Date.now()): string {
  const { node } = files;
  const version = node.versions.find((each) => each.version === label);
  const isGone = version === undefined || isBanned(node);
  const gone = html`<div class="intro">${heading(node, undefined)}
${notice('warn', html`Version ${foreign(label)} of this node is not offered any more.`)}
<p><a href="${nodeAddress(String(node.id))}">The page of ${foreign(nameOf(node))}</a></p></div>`;
  return layout(site, {
    ...headOf(node, version),
    title: `${nameOf(node)} ${label}`,
    path: nodeAddress(String(node.id), label),
    ...(isGone && { isListed: false }),
    main: isBanned(node)
      ? bannedPage(node)
      : isGone
        ? gone
        : parts(site, { node, hostNodes: files.hostNodes }, version, now, true),
  });
}

function isWithdrawn({ status }: PublicVersion): boolean {
  return status === 'NodeVersionStatusDeleted';
}

function isBanned({ status }: IndexedNode): boolean {
  return status === 'NodeStatusBanned';
}

/** Nothing that the publisher of a banned node wrote is shown, so its name is its id. */
function nameOf({ name, id = '', status }: IndexedNode): string {
  return (status === 'NodeStatusBanned' ? undefined : name) || id;
}

function bannedPage(node: IndexedNode): Content {
  const reason = node.status_detail && html` ${foreign(node.status_detail)}`;
  return html`<div class="intro"><h1>${foreign(String(node.id))}</h1>
${notice('bad', html`<b>This node is banned. Do not install it.</b>${reason}`)}
<p><a class="button" href="/search">Search for another one</a></p></div>`;
}

function headOf(node: IndexedNode, version: PublicVersion | undefined) {
  const { id = '', publisher, license, repository, tags } = node;
  const isOffered = node.status === 'NodeStatusActive' && version !== undefined && !isWithdrawn(version);
  const codeRepository = webAddress(repository);
  const description = isBanned(node) ? '' : (node.description ?? '');
  return {
    title: nameOf(node),
    description: description || `${nameOf(node)}, an extension of the host application.`,
    image: isBanned(node) ? undefined : (pictureAddress(node.banner_url) ?? pictureAddress(node.icon)),
    isListed: isOffered,
    script: 'page.js' as const,
    ...(isOffered && {
      facts: {
        ...{ '@type': 'SoftwareSourceCode', name: nameOf(node), identifier: id },
        ...(description && { description }),
        ...(codeRepository !== undefined && { codeRepository }),
        license: licenseOf(license, repository)?.url,
        ...(tags?.length && { keywords: tags.join(', ') }),
        ...{ version: version.version, dateModified: version.createdAt },
        datePublished: node.created_at,
        author: { '@type': 'Organization', name: publisher?.name ?? publisher?.id },
      },
    }),
  };
}

/** Everything about a node with one of its versions: name, install, the parts that links reach, and the facts. */
function parts(
  site: Site,
  files: NodeFiles,
  version: PublicVersion | undefined,
  now: number,
  isOfVersion = false,
): Content {
  const { node, hostNodes, readme } = files;
  const id = String(node.id);
  const banner = isOfVersion ? undefined : pictureAddress(node.banner_url);
  const list: Part[] = [
    ...(readme?.text ? [{ id: 'readme', name: 'Read me', content: readmePart(readme, nameOf(node)) }] : []),
    ...(version ? [{ id: 'host-nodes', name: 'Host nodes', ...hostNodeSection(hostNodes) }] : []),
    ...(isOfVersion || node.versions.length === 0
      ? []
      : [{ id: 'versions', name: 'Versions', count: node.versions.length, content: versionList(node) }]),
    ...(version
      ? [{ id: 'needs', name: 'Needs', count: version.dependencies?.length, content: needs(version) }]
      : []),
    ...changesPart(
      (isOfVersion ? [version] : node.versions.filter((each) => !isWithdrawn(each))).map((each) =>
        withWholeLog(each, hostNodes),
      ),
      node.repository,
    ),
  ];
  return html`<div class="node"><div class="intro">
${heading(node, version, isOfVersion)}
${notices(node, version, isOfVersion)}
${banner !== undefined && html`<div class="banner"><img src="${banner}" alt="" width="1200" height="300"></div>`}
${node.description && html`<div class="lead" dir="auto">${lines(node.description)}</div>`}</div>
${node.status === 'NodeStatusActive' && version && !isWithdrawn(version) && installSection(id, version, site.toolPackage)}
${partStyles}<div class="parts">${list.length > 1 && html`<nav class="tabs" aria-label="Parts">${list.map(tab)}</nav>`}
${list.map(section)}</div>
<aside class="side" aria-label="Facts">${side(site, node, version, isOfVersion, now)}</aside>
</div>`;
}

interface Part {
  id: string;
  name: string;
  count?: number | undefined;
  content: Content;
}

function tab({ id, name, count }: Part): Markup {
  return html`<a href="#${id}">${name}${count ? html` <span>${numberOf(count)}</span>` : undefined}</a>`;
}

function section({ id, name, content }: Part): Markup {
  return html`<section class="part" id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${name}</h2>${content}</section>`;
}

function heading(node: IndexedNode, version: PublicVersion | undefined, isOfVersion = false): Markup {
  const { id = '', publisher } = node;
  const name = nameOf(node);
  const label = isOfVersion && html` <span class="label">${version?.version}</span>`;
  return html`<div class="title">${icon(node.icon, name, id)}<div><h1>${foreign(name)}${label}</h1>
<p class="by"><code>${id}</code>${publisher?.id !== undefined && html` by ${publisherLink(publisher)}`}</p>
<p class="badges">${badges(node, version)}</p></div></div>`;
}

function badges({ license, repository, status }: IndexedNode, version: PublicVersion | undefined): Content {
  return [
    status === 'NodeStatusDeleted' && badge('Withdrawn', 'warn'),
    version && versionBadges(version),
    version?.provenance && badge('✓ Published by CI', 'good'),
    license && badge(licenseOf(license, repository)?.shown),
  ];
}

function versionBadges(version: PublicVersion): Content {
  return [
    /-/.test(String(version.version).split('+')[0] ?? '') && badge('Pre-release', 'accent'),
    version.deprecated && badge('Deprecated', 'warn'),
    version.status === 'NodeVersionStatusFlagged' && badge('Under review', 'warn'),
    isWithdrawn(version) && badge('Withdrawn', 'warn'),
  ];
}

function notices(node: IndexedNode, version: PublicVersion | undefined, isOfVersion: boolean): Content {
  const { status, status_detail = '', latest_version, versions } = node;
  const [, replacement] = /\breplaced by ["'`]?([\w.-]*\w)/i.exec(status_detail) ?? [];
  return [
    status === 'NodeStatusDeleted' &&
      notice(
        'warn',
        html`<b>Its owner has withdrawn this node.</b> Its versions stay where they are in use. ${foreign(status_detail)}${replacement !== undefined && html` <a href="${nodeAddress(replacement)}">Go to ${foreign(replacement)}</a>`}`,
      ),
    !latest_version &&
      notice(
        'plain',
        versions.length > 0
          ? 'Every version of this node is withdrawn.'
          : 'No version of this node can be installed.',
      ),
    // Not which one is the newest: a publish doesn't write the pages of all other versions.
    isOfVersion &&
      version &&
      notice(
        'plain',
        html`This page is about one version. <a href="${nodeAddress(String(node.id))}">The node’s page</a> has the newest.`,
      ),
    version &&
      isWithdrawn(version) &&
      notice(
        'warn',
        html`<b>This version is withdrawn.</b> Its files stay for those who use it. ${foreign(version.status_reason ?? '')}`,
      ),
    version?.deprecated &&
      notice('warn', `Version ${version.version} is deprecated. Choose another one if you can.`),
    version?.status === 'NodeVersionStatusFlagged' &&
      notice('warn', html`<b>This version is under review.</b> ${foreign(version.status_reason ?? '')}`),
  ];
}

function side(
  site: Site,
  node: IndexedNode,
  version: PublicVersion | undefined,
  isOfVersion: boolean,
  now: number,
): Content {
  const { publisher, downloads_by_day: byDay, tags = [], repository, status } = node;
  const has = Object.keys(byDay ?? {}).length > 0;
  const report = site.reportUrl?.replaceAll('{id}', encodeURIComponent(String(node.id)));
  const links = facts({
    Source: repository && webLink(repository),
    Website: publisher?.website && webLink(publisher.website),
    Support: publisher?.support && webLink(publisher.support),
  });
  return [
    byDay && has && !isOfVersion && box('Downloads', downloadsLine(byDay, now)),
    version && box('This version', aboutVersion(node, version)),
    box('About', [
      facts({
        License: licenseOf(node.license, repository)?.shown,
        Author: node.author && foreign(node.author),
        Category: node.category && foreign(node.category),
        'All downloads': node.downloads !== undefined && numberOf(node.downloads),
        Stars: node.repo_stars && numberOf(node.repo_stars),
        Rating: node.rating,
        'Takes the place of': node.preempted_host_node_names?.length
          ? foreign(node.preempted_host_node_names.join(', '))
          : undefined,
      }),
      links,
      tagList(tags, maxTags, true),
    ]),
    box('In other languages', translationList(node.translations)),
    report !== undefined &&
      status !== 'NodeStatusDeleted' &&
      html`<p><a class="quiet" href="${report}">Report this node</a></p>`,
  ];
}

const maxTags = 8;

function box(title: string, content: Content): Content {
  const isEmpty = content === undefined || (Array.isArray(content) && content.every((each) => !each));
  return isEmpty ? undefined : html`<section class="box"><h2>${title}</h2>${content}</section>`;
}

function aboutVersion(node: IndexedNode, version: PublicVersion): Content {
  const own = (field: 'supported_os' | 'supported_accelerators') =>
    foreign(shortNames(version[field]?.length ? version[field] : node[field]));
  const has = (field: 'supported_os' | 'supported_accelerators') =>
    (version[field]?.length || node[field]?.length || 0) > 0;
  const host = version.supported_host_version || node.supported_host_version;
  const frontend = version.supported_host_frontend_version || node.supported_host_frontend_version;
  const { sha256, tags = [] } = version;
  return facts({
    Version: foreign(String(version.version)),
    Published: dateOf(version.createdAt),
    By: provenanceOf(version),
    Host: host && foreign(host),
    'Host’s front end': frontend && foreign(frontend),
    Systems: has('supported_os') && own('supported_os'),
    Accelerators: has('supported_accelerators') && own('supported_accelerators'),
    Downloads: version.downloads !== undefined && numberOf(version.downloads),
    Size:
      version.size_bytes !== undefined &&
      html`<span title="${numberOf(version.size_bytes)} bytes">${sizeOf(version.size_bytes)}</span>`,
    'SHA-256': sha256 && html`<code class="digest" title="${sha256}">${sha256}</code>`,
    Tags: tags.length > 0 && foreign(tags.join(', ')),
  });
}

/** The CI job that published a version, from the token signed by its issuer. */
function provenanceOf({ provenance }: PublicVersion): Content {
  if (!provenance) return 'a person, with a token';
  const { issuer, repository, commit, ref, workflow, run } = provenance;
  return html`a CI job of <b>${foreign(repository)}</b>, commit <code title="${commit}">${foreign(commit.slice(0, 12))}</code>
<details><summary>The job</summary>${foreign(workflow)}, run ${foreign(run)}, of ${foreign(ref)}, verified by ${foreign(issuer)}</details>`;
}

function needs({ dependencies }: PublicVersion): Content {
  if (!dependencies) return html`<p class="quiet">Its publisher has not said which packages it needs.</p>`;
  if (dependencies.length === 0) return html`<p class="quiet">It needs no other packages.</p>`;
  return html`<ul class="plain rows">${dependencies.map((name) => html`<li><code>${foreign(name)}</code></li>`)}</ul>`;
}

const maxVersions = 10;

function versionList(node: IndexedNode): Content {
  const items = node.versions.map((version) => {
    const label = String(version.version);
    const { size_bytes, downloads, provenance, sha256 } = version;
    return html`<li><span><a href="${nodeAddress(String(node.id), label)}">${foreign(label)}</a> ${label === node.latest_version?.version && badge('Latest', 'good')}${versionBadges(version)}</span>
<span class="meta"><span>${dateOf(version.createdAt)}</span>${size_bytes !== undefined && html`<span>${sizeOf(size_bytes)}</span>`}${downloads !== undefined && html`<span>${countOf(downloads, 'download')}</span>`}${provenance && html`<span>by CI</span>`}${sha256 && html`<code title="${sha256}">${sha256.slice(0, 12)}</code>`}</span></li>`;
  });
  return folded(items, maxVersions, 'rows');
}

const maxChanges = 10;
const maxChangeLetters = 20_000;
/** A page's first log may be the first that this process parses, which takes 20 ms of a whole processor. */
const [firstMs, changesMs] = [300, 60];

/** Only the version that the page is about has its long change log. */
function withWholeLog(version: PublicVersion | undefined, hostNodes: NodeFiles['hostNodes']) {
  const cut = version?.changelog_is_cut && { ...version, changelog: `${version.changelog}…` };
  const own = hostNodes?.version === version?.version ? hostNodes?.changelog : undefined;
  return own ? { ...version, changelog: own } : cut || version;
}

function changesPart(
  versions: readonly (PublicVersion | undefined)[],
  repository: string | undefined,
): Part[] {
  const told = versions.filter((version) => version?.changelog).slice(0, maxChanges);
  if (told.length === 0) return [];
  const content = told.map(
    (version, place) =>
      html`<h3>${foreign(String(version?.version))} <small>${dateOf(version?.createdAt)}</small></h3>${changes(version, repository, place)}`,
  );
  return [{ id: 'changes', name: 'Changes', content }];
}

/** A change log as Markdown, or as its lines if that takes too long. */
function changes(version: PublicVersion | undefined, repository: string | undefined, place: number): Markup {
  const text = version?.changelog ?? '';
  const options = { path: 'CHANGELOG.md', repository, version, prefix: `changes-${place}-` };
  const safe =
    text.length > maxChangeLetters ? '' : renderReadme(text, options, place > 0 ? changesMs : firstMs);
  const language = scriptLanguage(text);
  return html`<div class="readme" dir="auto"${language && html` lang="${language}"`}>${safe ? new Markup(safe) : lines(text)}</div>`;
}

/** Its HTML was sanitized when it was written. Without HTML, the text is shown unchanged. */
function readmePart({ html: safe, text, is_cut }: IndexedReadme, name: string): Content {
  // A first heading that only repeats the name stays for links and readers of the page's structure.
  const once = safe?.replace(/^<h3 class="h1"([^>]*)>([^<]*)(?=<\/h3>)/, (whole, rest, title: string) =>
    title.trim().toLowerCase() === html`${name}`.text.toLowerCase()
      ? `<h3 class="h1 unseen"${rest}>${title}`
      : whole,
  );
  const content = !once ? html`<pre tabindex="0">${visibleText(text)}</pre>` : new Markup(once);
  const language = scriptLanguage(text);
  return html`<div class="readme" dir="auto"${language && html` lang="${language}"`}>${content}</div>
${is_cut && html`<p class="quiet">The rest of it is in the archive.</p>`}`;
}
