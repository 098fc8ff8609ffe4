import type { HostNode } from '@node-registry/registry-rules/schemas/host-node';
import type {
  IndexedHostNodes,
  IndexedNode,
  IndexedReadme,
  PublicVersion,
} from '@node-registry/registry-rules/schemas/index-files';
import { nodeAddress, publisherLink, tagList } from './entry.ts';
import { conditionally, hostNodeCard } from './host-node-card.ts';
import { installLine } from './install-line.ts';
import { layout } from './layout.ts';
import { type Content, html, Markup } from './markup.ts';
import { countOf, dateOf, facts, folded, foreign, icon, lines, notice } from './text.ts';
import { numberOf, pictureAddress, pill, sizeOf, webAddress, webLink } from './text.ts';

export interface NodeFiles {
  node: IndexedNode;
  hostNodes?: IndexedHostNodes | undefined;
  readme?: IndexedReadme | undefined;
}

/** The page of a node, with all data of the index about it and its latest version. */
export function nodePage(siteUrl: string | undefined, files: NodeFiles): string {
  const { node, readme } = files;
  const version = node.latest_version;
  return layout(siteUrl, {
    ...headOf(node, version),
    path: nodeAddress(String(node.id)),
    main: [
      introduction(node),
      version && versionParts(files, version),
      versionList(node),
      readme?.text && readmeSection(readme),
    ],
  });
}

/** The page of a version. If the version is no longer offered, the page says so. */
export function versionPage(siteUrl: string | undefined, files: NodeFiles, label: string): string {
  const { node } = files;
  const version = node.versions.find((each) => each.version === label);
  const page = headOf(node, version);
  const all = html`<p><a href="${nodeAddress(String(node.id))}">All versions of ${foreign(nameOf(node))}</a></p>`;
  const gone = notice('warn', `Version ${label} of this node is not offered any more.`);
  return layout(siteUrl, {
    ...page,
    title: `${nameOf(node)} ${label} · Node registry`,
    path: nodeAddress(String(node.id), label),
    main: [heading(node), statusNotice(node), version ? versionParts(files, version) : gone, all],
  });
}

function nameOf({ name, id = '' }: IndexedNode): string {
  return name || id;
}

function headOf(node: IndexedNode, version: PublicVersion | undefined) {
  const { id = '', description = '', publisher, license, repository, tags } = node;
  const isOffered = node.status === 'NodeStatusActive' && version !== undefined;
  const codeRepository = webAddress(repository);
  return {
    title: `${nameOf(node)} · Node registry`,
    description: description || `${nameOf(node)}, an extension of the host application.`,
    image: pictureAddress(node.banner_url) ?? pictureAddress(node.icon),
    isListed: isOffered,
    scripts: ['page.js'],
    ...(isOffered && {
      facts: {
        ...{ '@type': 'SoftwareSourceCode', name: nameOf(node), identifier: id, description },
        ...(codeRepository !== undefined && { codeRepository }),
        ...{ license, keywords: tags?.join(', '), version: version?.version },
        ...{ dateModified: version?.createdAt, author: { '@type': 'Organization', name: publisher?.name } },
      },
    }),
  };
}

function heading(node: IndexedNode): Markup {
  const { id = '', publisher } = node;
  return html`<div class="name">${icon(node.icon, nameOf(node))}<div><h1>${foreign(nameOf(node))}</h1>
<p class="quiet"><code>${id}</code>${publisher?.id !== undefined && html` by ${publisherLink(publisher)}`}</p></div></div>`;
}

function introduction(node: IndexedNode): Markup {
  const { publisher, description, tags = [], repo_stars, rating } = node;
  const banner = pictureAddress(node.banner_url);
  return html`<section class="introduction" aria-label="About the node">
${heading(node)}
${statusNotice(node)}
${banner !== undefined && html`<img class="banner" src="${banner}" alt="" loading="lazy">`}
${description && html`<div class="description">${lines(description)}</div>`}
${tagList(tags)}
${facts({
  Repository: node.repository && webLink(node.repository),
  Website: publisher?.website && webLink(publisher.website),
  Support: publisher?.support && webLink(publisher.support),
  Author: node.author && foreign(node.author),
  License: node.license && foreign(node.license),
  Category: node.category && foreign(node.category),
  Downloads: downloadsOf(node),
  Stars: repo_stars && numberOf(repo_stars),
  Rating: rating,
  'Takes the place of': node.preempted_host_node_names?.length
    ? foreign(node.preempted_host_node_names.join(', '))
    : undefined,
  'Other languages': translationsOf(node),
})}
</section>`;
}

function downloadsOf({ downloads, downloads_90_days: recent }: IndexedNode): string | undefined {
  if (downloads === undefined) return undefined;
  return `${numberOf(downloads)}${recent === undefined ? '' : `, ${numberOf(recent)} of them in the last 90 days`}`;
}

const maxLanguages = 20;

/** Each language has any value: strings by field, or one string. */
function translationsOf({ translations }: IndexedNode): Content {
  if (typeof translations !== 'object' || translations === null) return undefined;
  const languages = Object.entries(translations).slice(0, maxLanguages);
  if (languages.length === 0) return undefined;
  return languages.map(([language, value]) => {
    const texts = typeof value === 'object' && value !== null ? Object.values(value) : [value];
    const shown = texts.filter((text) => typeof text === 'string');
    const tag = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(language) && html` lang="${language}"`;
    return html`<details><summary>${foreign(language)}</summary><div${tag || undefined}>${shown.map(lines)}</div></details>`;
  });
}

function statusNotice({ status, status_detail, versions }: IndexedNode): Markup | undefined {
  const because = status_detail ? ` ${status_detail}` : '';
  if (status === 'NodeStatusBanned')
    return notice('bad', `This node is banned. Do not install it.${because}`);
  if (status === 'NodeStatusDeleted')
    return notice(
      'warn',
      `Its owner has withdrawn this node. Its versions stay where they are in use.${because}`,
    );
  return versions.length === 0 ? notice('plain', 'No version of this node can be installed.') : undefined;
}

function versionParts({ node, hostNodes }: NodeFiles, version: PublicVersion): Content {
  return [
    version.deprecated &&
      notice('warn', `Version ${version.version} is deprecated. Choose another one if you can.`),
    version.status === 'NodeVersionStatusFlagged' &&
      notice('warn', version.status_reason || 'This version is under review.'),
    node.status === 'NodeStatusActive' && installSection(String(node.id), version),
    aboutVersion(version),
    hostNodeSection(hostNodes),
  ];
}

function installSection(id: string, version: PublicVersion): Markup {
  const line = installLine(id, version);
  const address = webAddress(version.downloadUrl);
  return html`<section aria-label="Install"><h2>Install ${foreign(String(version.version))}</h2>
${
  line === undefined
    ? html`<p class="quiet">This version has no archive.</p>`
    : html`<p class="quiet">Run it in the folder where the host looks for nodes. It checks that the bytes are those that were published.</p>
<div class="copyable"><pre tabindex="0">${line}</pre></div>`
}
${
  address !== undefined &&
  html`<p><a href="${address}" rel="noopener noreferrer nofollow">Download the archive</a>${version.size_bytes !== undefined && ` (${sizeOf(version.size_bytes)})`}</p>`
}</section>`;
}

function aboutVersion(version: PublicVersion): Markup {
  const { dependencies, changelog, supported_os = [], supported_accelerators = [], tags = [] } = version;
  const needed = dependencies?.map((name) => html`<li><code>${foreign(name)}</code></li>`);
  return html`<section aria-label="About the version">
<h2>Version ${foreign(String(version.version))} ${version.deprecated && pill('deprecated', 'warn')}</h2>
${facts({
  Published: dateOf(version.createdAt),
  'Published by': provenanceOf(version),
  'What changed': changelog && lines(changelog),
  SHA256: version.sha256 && html`<code>${version.sha256}</code>`,
  'Host version': version.supported_host_version && foreign(version.supported_host_version),
  Systems: supported_os.length > 0 && foreign(supported_os.join(', ')),
  Accelerators: supported_accelerators.length > 0 && foreign(supported_accelerators.join(', ')),
  Tags: tags.length > 0 && foreign(tags.join(', ')),
  Needs: !needed
    ? 'unknown: its publisher has not said which packages it needs'
    : needed.length > 0
      ? html`<ul class="plain dependencies">${needed}</ul>`
      : 'no other packages',
})}</section>`;
}

/** The CI job that published a version, from the token signed by its issuer. */
function provenanceOf({ provenance }: PublicVersion): Content {
  if (!provenance) return 'a person, with a personal access token';
  const { issuer, repository, commit, ref, workflow, run } = provenance;
  return html`<b>${foreign(repository)}</b>, ${foreign(workflow)}, run ${foreign(run)}, commit <code title="${commit}">${foreign(commit.slice(0, 12))}</code> of ${foreign(ref)}, verified by ${foreign(issuer)}`;
}

const maxCards = 60;

/** Banned ones aren't listed, and deprecated ones are folded: the contract hides them. */
function hostNodeSection(file: IndexedHostNodes | undefined): Markup {
  const nodes = (file?.host_nodes ?? []).filter(({ policy }) => policy !== 'HostNodePolicyBanned');
  const current = nodes.filter(({ deprecated }) => !deprecated);
  const deprecated = nodes.filter((node) => node.deprecated);
  const others = current.slice(maxCards).map(nameLine);
  const sentence = sentenceOf(file, nodes);
  return html`<section id="host-nodes" aria-label="Host nodes"><h2>Host nodes</h2>
${sentence && html`<p class="quiet">${foreign(sentence)}</p>`}
${current.length > 0 && html`<ul class="plain host-nodes">${current.slice(0, maxCards).map(hostNodeCard)}</ul>`}
${others.length > 0 && html`<details><summary>${countOf(others.length, 'more host node')}, by name</summary><ul>${others}</ul></details>`}
${deprecated.length > 0 && html`<details><summary>${countOf(deprecated.length, 'deprecated host node')}</summary><ul>${deprecated.map(nameLine)}</ul></details>`}
</section>`;
}

function nameLine({ host_node_name = '', display_name, conditional }: HostNode): Markup {
  return html`<li><code>${foreign(host_node_name)}</code> ${display_name && foreign(display_name)} ${conditional && conditionally}</li>`;
}

function sentenceOf(file: IndexedHostNodes | undefined, nodes: readonly HostNode[]): string | undefined {
  const count = nodes.length;
  if (!file || file.host_node_extract_status === 'pending')
    return 'The host nodes are still being read from the archive. Look again in a minute.';
  const { host_node_extract_status: status, host_node_extract_reason: reason = '' } = file;
  if (status === 'failed')
    return `${count === 0 ? 'No host node' : 'Not all host nodes'} could be read from the archive. ${reason}`;
  if (count === 0) return 'This version has no host nodes.';
  const conditional = nodes.filter((node) => node.conditional).length;
  const open = nodes.filter(({ left_open = [] }) => left_open.length > 0).length;
  return [
    countOf(count, 'host node'),
    ...(conditional > 0 ? [`${countOf(conditional, 'is', 'are')} listed only under a condition`] : []),
    ...(open > 0 ? [`${countOf(open, 'has', 'have')} values that the code does not show`] : []),
  ].join('. ');
}

const maxVersions = 10;

function versionList(node: IndexedNode): Markup | undefined {
  if (node.versions.length === 0) return undefined;
  const items = node.versions.map((version) => {
    const label = String(version.version);
    return html`<li><a href="${nodeAddress(String(node.id), label)}">${foreign(label)}</a> ${label === node.latest_version?.version && pill('latest')}${version.deprecated && pill('deprecated', 'warn')}${version.status === 'NodeVersionStatusFlagged' && pill('under review', 'warn')}
<span class="quiet">${dateOf(version.createdAt)}${version.size_bytes !== undefined && `, ${sizeOf(version.size_bytes)}`}${version.downloads !== undefined && `, ${countOf(version.downloads, 'download')}`}${version.provenance !== undefined && ', published by a CI job'}${version.sha256 && html`, <code title="${version.sha256}">${version.sha256.slice(0, 12)}</code>`}</span></li>`;
  });
  return html`<section aria-label="Versions"><h2>Versions</h2>${folded(items, maxVersions, 'versions')}</section>`;
}

/** Its HTML was sanitized when it was written. Without HTML, the text is shown unchanged. */
function readmeSection({ html: safe, text, is_cut }: IndexedReadme): Markup {
  const content = !safe ? html`<pre tabindex="0">${foreign(text)}</pre>` : new Markup(safe);
  return html`<section aria-label="README"><h2>README</h2><div class="readme">${content}</div>
${is_cut && html`<p class="quiet">The rest of it is in the archive.</p>`}</section>`;
}
