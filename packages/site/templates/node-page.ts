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
import { badge, countOf, dateOf, facts, foreign, icon, lines, numberOf } from './text.ts';
import { pictureAddress, sizeOf, visibleText, webAddress, webLink } from './text.ts';
import { translationList } from './translations.ts';

export interface NodeFiles {
  node: IndexedNode;
  /** Of the version that the page is about. */
  hostNodes?: IndexedHostNodes | undefined;
  readme?: IndexedReadme | undefined;
}

/** What a page shows: a node with one of its versions. */
interface View extends NodeFiles {
  site: Site;
  version: PublicVersion | undefined;
  /** Names the version if the page is about it alone. */
  label: string | undefined;
  now: number;
}

/**
 * The page of a node with its latest version, or of the version with this label. If that is no longer offered, the
 * page says so.
 */
export function nodePage(site: Site, files: NodeFiles, label?: string, now = Date.now()): string {
  const { node } = files;
  const { id = '', publisher, license, repository, tags, status } = node;
  const version =
    label === undefined ? node.latest_version : node.versions.find((each) => each.version === label);
  const isListed = status === 'NodeStatusActive' && version !== undefined && !isWithdrawn(version);
  const name = nameOf(node);
  const facts = {
    '@type': 'SoftwareSourceCode',
    name,
    identifier: id,
    description: node.description || undefined,
    codeRepository: webAddress(repository),
    license: licenseOf(license, repository)?.url,
    keywords: tags?.join(', ') || undefined,
    version: version?.version,
    dateModified: version?.createdAt,
    datePublished: node.created_at,
    author: { '@type': 'Organization', name: publisher?.name ?? publisher?.id },
  };
  return layout(site, {
    title: label === undefined ? name : `${name} ${label}`,
    path: nodeAddress(id, label),
    description: node.description || `${name}, an extension of the host application.`,
    image: pictureAddress(node.banner_url) ?? pictureAddress(node.icon),
    isListed,
    script: 'page.js',
    ...(isListed && { facts }),
    main: mainOf({ ...files, site, version, label, now }),
  });
}

function isWithdrawn(version: PublicVersion | undefined): boolean {
  return version?.status === 'NodeVersionStatusDeleted';
}

function nameOf({ name, id = '' }: IndexedNode): string {
  return name || id;
}

function bannedPage({ id = '', status_detail }: IndexedNode): Content {
  const reason = status_detail && html` ${foreign(status_detail)}`;
  return html`<div class="intro"><h1>${foreign(id)}</h1>
<p class="notice bad"><b>This node is banned. Do not install it.</b>${reason}</p>
<p><a class="button" href="/search">Search for another one</a></p></div>`;
}

interface Part {
  id: string;
  name: string;
  count?: number | undefined;
  /** A part without any isn't shown. */
  content?: Content;
}

/** Everything about a node with one of its versions: name, install, the parts that links reach, and the facts. */
function mainOf(view: View): Content {
  const { site, node, version, label, hostNodes, readme } = view;
  const id = String(node.id);
  if (node.status === 'NodeStatusBanned') return bannedPage(node);
  if (label !== undefined && !version)
    return html`<div class="intro">${heading({ ...view, label: undefined })}
<p class="notice warn">Version ${foreign(label)} of this node is not offered any more.</p>
<p><a href="${nodeAddress(id)}">The page of ${foreign(nameOf(node))}</a></p></div>`;
  const isOfNode = label === undefined;
  const banner = isOfNode && pictureAddress(node.banner_url);
  const all: Part[] = [
    { id: 'readme', name: 'Read me', content: isOfNode && readme?.text && readmePart(readme, nameOf(node)) },
    { id: 'host-nodes', name: 'Host nodes', ...(version && hostNodeSection(hostNodes)) },
    { id: 'versions', name: 'Versions', count: node.versions.length, content: isOfNode && versionList(node) },
    { id: 'needs', name: 'Needs', count: version?.dependencies?.length, content: version && needs(version) },
    { id: 'changes', name: 'Changes', content: changes(view) },
  ];
  const list = all.filter(({ content }) => content);
  return html`<div class="node"><div class="intro">
${heading(view)}
${notices(view)}
${banner && html`<div class="banner"><img src="${banner}" alt="" width="1200" height="300"></div>`}
${node.description && html`<div class="lead" dir="auto">${lines(node.description)}</div>`}</div>
${node.status === 'NodeStatusActive' && version && !isWithdrawn(version) && installSection(id, version, site.toolPackage)}
${partStyles}<div class="parts">${list.length > 1 && html`<nav class="tabs" aria-label="Parts">${list.map(tab)}</nav>`}
${list.map(section)}</div>
<aside class="side" aria-label="Facts">${side(view)}</aside>
</div>`;
}

function tab({ id, name, count }: Part): Markup {
  return html`<a href="#${id}">${name}${count ? html` <span>${numberOf(count)}</span>` : undefined}</a>`;
}

function section({ id, name, content }: Part): Markup {
  return html`<section class="part" id="${id}" aria-labelledby="title-${id}"><h2 id="title-${id}">${name}</h2>${content}</section>`;
}

function heading({ node, version, label }: View): Markup {
  const { id = '', publisher, license, repository, status } = node;
  const name = nameOf(node);
  const badges = [
    status === 'NodeStatusDeleted' && badge('Withdrawn', 'warn'),
    version && versionBadges(version),
    version?.provenance && badge('✓ Published by CI', 'good'),
    license && badge(licenseOf(license, repository)?.shown),
  ];
  return html`<div class="title">${icon(node.icon, name, id)}<div><h1>${foreign(name)}${label !== undefined && html` <span class="label">${label}</span>`}</h1>
<p class="by"><code>${id}</code>${publisher?.id !== undefined && html` by ${publisherLink(publisher)}`}</p>
<p class="badges">${badges}</p></div></div>`;
}

function versionBadges(version: PublicVersion): Content {
  return [
    /-/.test(String(version.version).split('+')[0] ?? '') && badge('Pre-release', 'accent'),
    version.deprecated && badge('Deprecated', 'warn'),
    version.status === 'NodeVersionStatusFlagged' && badge('Under review', 'warn'),
    isWithdrawn(version) && badge('Withdrawn', 'warn'),
  ];
}

function notices({ node, version, label }: View): Content {
  const { status, status_detail = '', latest_version, versions } = node;
  const [, replacement] = /\breplaced by ["'`]?([\w.-]*\w)/i.exec(status_detail) ?? [];
  const next =
    replacement !== undefined &&
    html` <a href="${nodeAddress(replacement)}">Go to ${foreign(replacement)}</a>`;
  const reason = foreign(version?.status_reason ?? '');
  return [
    status === 'NodeStatusDeleted' &&
      html`<p class="notice warn"><b>Its owner has withdrawn this node.</b> Its versions stay where they are in use. ${foreign(status_detail)}${next}</p>`,
    !latest_version &&
      html`<p class="notice plain">${versions.length > 0 ? 'Every version of this node is withdrawn' : 'No version of this node can be installed'}.</p>`,
    // Not which one is the newest: a publish doesn't write the pages of all other versions.
    label !== undefined &&
      html`<p class="notice plain">This page is about one version. <a href="${nodeAddress(String(node.id))}">The node’s page</a> has the newest.</p>`,
    isWithdrawn(version) &&
      html`<p class="notice warn"><b>This version is withdrawn.</b> Its files stay for those who use it. ${reason}</p>`,
    version?.deprecated &&
      html`<p class="notice warn">Version ${version.version} is deprecated. Choose another one if you can.</p>`,
    version?.status === 'NodeVersionStatusFlagged' &&
      html`<p class="notice warn"><b>This version is under review.</b> ${reason}</p>`,
  ];
}

const maxTags = 8;

function side({ site, node, version, label, now }: View): Content {
  const { publisher, downloads_by_day: byDay = {}, tags = [], repository, status } = node;
  const report = site.reportUrl?.replaceAll('{id}', encodeURIComponent(String(node.id)));
  return [
    label === undefined && Object.keys(byDay).length > 0 && box('Downloads', downloadsLine(byDay, now)),
    version && box('This version', aboutVersion(node, version)),
    box('About', [
      facts({
        License: licenseOf(node.license, repository)?.shown,
        Author: node.author,
        Category: node.category,
        'All downloads': node.downloads,
        Stars: node.repo_stars,
        Rating: node.rating !== undefined && html`${node.rating}`,
        'Takes the place of': node.preempted_host_node_names?.join(', '),
      }),
      facts({
        Source: repository && webLink(repository),
        Website: publisher?.website && webLink(publisher.website),
        Support: publisher?.support && webLink(publisher.support),
      }),
      tagList(tags, maxTags, true),
    ]),
    box('In other languages', translationList(node.translations)),
    report !== undefined &&
      status !== 'NodeStatusDeleted' &&
      html`<p><a class="quiet" href="${report}">Report this node</a></p>`,
  ];
}

function box(title: string, content: Content): Content {
  const inside = html`${content}`;
  return inside.text && html`<section class="box"><h2>${title}</h2>${inside}</section>`;
}

function aboutVersion(node: IndexedNode, version: PublicVersion): Content {
  const { supported_os: systems, supported_accelerators: accelerators, size_bytes, sha256 } = version;
  return facts({
    Version: version.version,
    Published: dateOf(version.createdAt),
    By: provenanceOf(version),
    Host: version.supported_host_version || node.supported_host_version,
    'Host’s front end': version.supported_host_frontend_version || node.supported_host_frontend_version,
    Systems: shortNames(systems?.length ? systems : node.supported_os),
    Accelerators: shortNames(accelerators?.length ? accelerators : node.supported_accelerators),
    Downloads: version.downloads,
    Size:
      size_bytes !== undefined &&
      html`<span title="${numberOf(size_bytes)} bytes">${sizeOf(size_bytes)}</span>`,
    'SHA-256': sha256 && html`<code class="digest" title="${sha256}">${sha256}</code>`,
    Tags: version.tags?.join(', '),
  });
}

/** The CI job that published a version, from the token signed by its issuer. */
function provenanceOf({ provenance }: PublicVersion): Markup {
  if (!provenance) return html`a person, with a token`;
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

/** The first ones; a line opens the others. */
function versionList(node: IndexedNode): Content {
  const items = node.versions.map((version) => {
    const label = String(version.version);
    const { size_bytes, downloads, provenance, sha256 } = version;
    return html`<li><span><a href="${nodeAddress(String(node.id), label)}">${foreign(label)}</a> ${label === node.latest_version?.version && badge('Latest', 'good')}${versionBadges(version)}</span>
<span class="meta"><span>${dateOf(version.createdAt)}</span>${size_bytes !== undefined && html`<span>${sizeOf(size_bytes)}</span>`}${downloads !== undefined && html`<span>${countOf(downloads, 'download')}</span>`}${provenance && html`<span>by CI</span>`}${sha256 && html`<code title="${sha256}">${sha256.slice(0, 12)}</code>`}</span></li>`;
  });
  const open = (some: readonly Markup[]) => html`<ul class="plain rows">${some}</ul>`;
  const rest = items.slice(maxVersions);
  const more = html`<details><summary>Show ${numberOf(rest.length)} more</summary>${open(rest)}</details>`;
  return items.length > 0 && [open(items.slice(0, maxVersions)), rest.length > 0 && more];
}

const maxChanges = 10;
/** For all of a page. The first may be the first that this process parses, which takes 20 ms of a whole processor. */
const changesMs = 800;

/** The change logs as Markdown, or as its lines if that takes too long. */
function changes({ node, version, label, hostNodes }: View): Content {
  const { repository, versions } = node;
  const logs = label === undefined ? versions.filter((each) => !isWithdrawn(each)) : [version];
  const told = logs.filter((each) => each?.changelog).slice(0, maxChanges);
  const until = performance.now() + changesMs;
  const items = told.map((each, place) => {
    const text = wholeLog(each, hostNodes);
    const options = { path: 'CHANGELOG.md', repository, version: each, prefix: `changes-${place}-` };
    const safe = renderReadme(text, options, until - performance.now());
    return html`<h3>${foreign(String(each?.version))} <small>${dateOf(each?.createdAt)}</small></h3>${prose(text, safe ? new Markup(safe) : lines(text))}`;
  });
  return items.length > 0 && items;
}

/** Only the version that the page is about has its long change log. */
function wholeLog(version: PublicVersion | undefined, hostNodes: NodeFiles['hostNodes']): string {
  const whole = hostNodes?.version === version?.version ? hostNodes?.changelog : undefined;
  return whole || `${version?.changelog ?? ''}${version?.changelog_is_cut ? '…' : ''}`;
}

/** Its HTML was sanitized when it was written. Without HTML, the text is shown unchanged. */
function readmePart({ html: safe, text, is_cut }: IndexedReadme, name: string): Content {
  // A first heading that only repeats the name stays for links and readers of the page's structure.
  const once = safe?.replace(/^<h3 class="h1"([^>]*)>([^<]*)(?=<\/h3>)/, (whole, rest, title: string) =>
    title.trim().toLowerCase() === html`${name}`.text.toLowerCase()
      ? `<h3 class="h1 unseen"${rest}>${title}`
      : whole,
  );
  return html`${prose(text, once ? new Markup(once) : html`<pre tabindex="0">${visibleText(text)}</pre>`)}
${is_cut && html`<p class="quiet">The rest of it is in the archive.</p>`}`;
}

/** A publisher's text, in the language of its script. */
function prose(text: string, content: Markup): Markup {
  const language = scriptLanguage(text);
  return html`<div class="readme" dir="auto"${language && html` lang="${language}"`}>${content}</div>`;
}
