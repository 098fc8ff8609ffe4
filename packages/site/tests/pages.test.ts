import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { HostNode } from '@node-registry/registry-rules/schemas/host-node';
import { Node } from '@node-registry/registry-rules/schemas/node';
import type { IndexedNode } from '@node-registry/registry-rules/schemas/index-files';
import { type BuiltFile, buildSite, sitePage, unknownPath } from '../build.ts';
import { leadAddress } from '../lead-address.ts';
import { renderReadme } from '../readme.ts';
import { entryCard } from '../templates/entry.ts';
import { plainSite, type Site } from '../templates/layout.ts';
import { byUse, feed, publisherPage, sitemap } from '../templates/lists.ts';
import { dayBefore, icon } from '../templates/text.ts';
import { nodePage } from '../templates/node-page.ts';
import { entriesOf, filesOf, listed, manyNodes, version } from './listed-nodes.ts';

const site: Site = { ...plainSite, url: 'https://nodes.example' };
const commit = 'ab'.repeat(20);
const place = {
  path: 'README.md',
  repository: 'https://github.com/acme/blend.git',
  version: { version: '1.0.0', provenance: { commit, repository: 'acme/blend' } as never },
};
const turned = '\u202egnp.exe\u200b';
const hostile = '"><script>alert(1)</script>';

const pageOf = (
  id: string,
  fields: Partial<IndexedNode> = {},
  hostNodes: Parameters<typeof listed>[2] = [],
) => nodePage(site, filesOf(listed(id, fields, hostNodes)));
const hostNodesOf = (hostNode: HostNode) => pageOf('a', {}, [hostNode]);
const plain = (page: string) => page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

test.each([
  ['https://a.example/i.png', true],
  ['http://a.example/i.png', false],
  ['data:image/png;base64,iVBORw0=', true],
  [`data:image/png;base64,${'A'.repeat(5000)}`, false],
  ['data:image/svg+xml;base64,AA==', false],
])('shows %.40s as an icon: %s', (address, isShown) => {
  expect(icon(address, 'Node').text.includes('<img')).toBe(isShown);
});

describe('the page of a node', () => {
  const dependencies = ['numpy>=2'];
  const whole = {
    name: 'Whole',
    description: 'All\nof it.',
    license: 'MIT',
    supported_os: ['Linux'],
    downloads_by_day: { [new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10)]: 56 },
    downloads: 1234,
    downloads_90_days: 56,
    repo_stars: 5,
    rating: 4.5,
    translations: { de: { description: 'Alles davon.' } },
    preempted_host_node_names: ['Mix'],
    banner_url: 'https://img.example/b.png',
    versions: [
      version('whole', '2.0.0', {
        tags: ['beta'],
        downloads: 7,
        changelog: 'Faster.\nSmaller.',
        dependencies,
      }),
      version('whole', '1.0.0+a', { deprecated: true }),
    ],
  };
  const input_types = '{"required":{"share":["FLOAT",{"default":0.5}]}}';
  const hostNodes = [
    { host_node_name: 'Mix', input_types, return_types: 'IMAGE' },
    { host_node_name: 'Open', conditional: true, left_open: ['category: <it>'] },
    { host_node_name: 'Old', deprecated: true },
    { host_node_name: 'Evil', policy: 'HostNodePolicyBanned' as const },
  ];
  const page = pageOf('Whole_Node', whole, hostNodes);

  test.each([
    ['title', '<title>Whole · Node registry</title>'],
    ['canonical address', '<link rel="canonical" href="https://nodes.example/nodes/whole-node">'],
    ['feed', 'href="/feed.xml"'],
    ['preview', '<meta property="og:image" content="https://img.example/b.png">'],
    ['data for programs', '"@type":"SoftwareSourceCode","name":"Whole"'],
    [
      'install line',
      `zip &amp;&amp; echo &#39;${'ab'.repeat(32)}  Whole_Node-2.0.0.zip&#39; | sha256sum --check`,
    ],
    ['install line for Windows', `if ((Get-FileHash -LiteralPath &#39;Whole_Node-2.0.0.zip&#39;).Hash -eq`],
    ['version with its address', 'href="/nodes/whole-node/1.0.0%2Ba"'],
    ['changelog with its lines', 'Faster.\nSmaller.'],
    ['size', 'title="12,345 bytes">12.3 kB'],
    ['digest', 'ab'.repeat(32)],
    ['dependency', 'numpy&gt;=2'],
    ['publisher', 'href="/publishers/acme"'],
    ['tag of the version', 'beta'],
    ['translation', '<summary><bdi>German</bdi></summary>'],
    ['language of a text', 'data-field="description" lang="de"'],
    ['license', 'href="https://spdx.org/licenses/MIT.html"'],
    ['system', '<dt>Systems</dt><dd><bdi>Linux</bdi></dd>'],
    ['stars', '<dt>Stars</dt><dd>5</dd>'],
    ['rating', '<dt>Rating</dt><dd>4.5</dd>'],
    ['downloads', '<dt>All downloads</dt><dd>1,234</dd>'],
    ['line of downloads', '<b>56</b> <span class="quiet">in 30 days</span>'],
    ['downloads of a version', '<span>7 downloads</span>'],
    [
      'certainty',
      '3 host nodes. 1 is listed only under a condition. 1 has values that the code does not show',
    ],
    ['value that its code does not show', '<li><bdi>category: &lt;it&gt;</bdi></li>'],
    ['card', '<span class="value"><bdi>0.5</bdi></span>'],
    ['folded host node', '<summary>1 deprecated host node</summary>'],
  ])('has its %s', (_, part) => {
    expect(page).toContain(part);
  });

  // The host calls the function; nothing that a reader sees depends on its name.
  test.each(Object.keys(HostNode.shape).filter((field) => field !== 'function'))(
    'shows the %s of a host node, or what it changes',
    (field) => {
      const all: HostNode = {
        host_node_name: 'Mix',
        display_name: 'Mixer',
        category: 'image',
        description: 'Mixes',
        conditional: true,
        experimental: true,
        deprecated: field === 'deprecated',
        policy: 'HostNodePolicyLocalOnly',
        output_is_list: [true],
        left_open: ['category: unknown'],
        input_types,
        return_types: '["IMAGE"]',
        return_names: '["out"]',
      };
      expect(all).toHaveProperty(field);
      expect(hostNodesOf({ ...all, [field]: undefined })).not.toBe(hostNodesOf(all));
    },
  );

  test('counts only the choices of a widget that the code shows', () => {
    const input_types =
      '{"required":{"mode":[["a","b"]],"newer":["COMBO",{"options":["a","b","c"]}],"other":[["a"]]}}';
    const left_open = ['mode[0][2] outside', 'newer[1].options[3] outside', 'other[0][] no order'].map(
      (place) => `input_types: .required.${place}`,
    );
    const shown = plain(hostNodesOf({ host_node_name: 'Mix', input_types, left_open }));

    expect(shown).toMatch(/mode one of at least 2.*newer one of at least 3.*other one of 1/s);
  });

  test.each<[string, HostNode]>([
    ['outputs', { return_types: ','.repeat(79_999) }],
    ['inputs', { input_types: `{"required":{${Array.from({ length: 9_000 }, (_, at) => `"${at}":0`)}}}` }],
    [
      'widgets',
      { input_types: `{"required":{${Array.from({ length: 7_000 }, (_, at) => `"${at}":"INT"`)}}}` },
    ],
    ['long texts', { return_types: `["${Array(250).fill('<'.repeat(300)).join('","')}"]` }],
    ['brackets', { input_types: `{"required":{"a":[[${'['.repeat(39_000)}${']'.repeat(39_000)}]]}}` }],
  ])('has less than 3 MB for 60 host nodes with 80,000 bytes of %s each', (_, fields) => {
    const many = Array.from({ length: 60 }, (_, at) => ({ host_node_name: `Node ${at}`, ...fields }));
    const page = pageOf('a', {}, many);

    expect(page.length).toBeLessThan(3_000_000);
    expect(many.filter(({ host_node_name: name }) => !page.includes(`>${name}<`))).toEqual([]);
  });

  test('counts the values of a host node that it does not draw', () => {
    const hostNode = { host_node_name: 'Mix', return_types: Array(1_234).fill('IMAGE').join(',') };

    expect(plain(hostNodesOf(hostNode))).toMatch(/(?:IMAGE +){100}1,134 more /);
  });

  test.each([
    [undefined, 'has not said which packages it needs'],
    [[], 'It needs no other packages'],
  ])('says of dependencies that are %j: %s', (dependencies, sentence) => {
    const versions = [version('a', '1.0.0', { ...(dependencies && { dependencies }) })];
    expect(plain(pageOf('a', { versions }))).toContain(sentence);
  });

  test('lists no banned host node, each deprecated one once, and has no address of its own without a name of the site', () => {
    expect(page).not.toContain('Evil');
    expect(page.split('<bdi>Old</bdi>')).toHaveLength(2);
    expect(nodePage(plainSite, filesOf(listed('whole')))).not.toMatch(/canonical|og:url|feed/);
  });

  test.each([
    ['NodeStatusBanned', 'This node is banned. Do not install it. A virus.'],
    ['NodeStatusDeleted', 'Its owner has withdrawn this node.'],
  ] as const)('says of a node that is %s so, to people and search engines', (status, sentence) => {
    const files = filesOf(listed('gone', { status, status_detail: 'A virus.' }));

    for (const each of [nodePage(site, files), nodePage(site, files, '1.0.0')]) {
      expect(plain(each)).toContain(sentence);
      expect(each).toContain('<meta name="robots" content="noindex">');
      expect(each).not.toMatch(/curl|application\/ld/);
    }
  });

  test('says of a version that is withdrawn so, offers no install, and lists its page nowhere', () => {
    const gone = { status: 'NodeVersionStatusDeleted', status_reason: 'Crashes.' } as const;
    const old = version('old', '2.0.0', { ...gone, changelog: 'Faster' });
    const latest_version = version('old', '1.0.0');
    const files = filesOf(listed('old', { versions: [old, latest_version], latest_version }));
    const [own, node] = [nodePage(site, files, '2.0.0'), nodePage(site, files)];
    const all = nodePage(site, filesOf(listed('all', { versions: [old], latest_version: undefined })));

    expect(plain(own)).toContain('This version is withdrawn. Its files stay for those who use it. Crashes.');
    expect(own).toContain('<meta name="robots" content="noindex">');
    expect(own).not.toMatch(/curl|application\/ld/);
    expect(plain(node)).toMatch(/2\.0\.0\s+Withdrawn/);
    expect(node).toMatch(/curl/);
    expect(plain(node)).not.toContain('Faster');
    expect(plain(all)).toContain('Every version of this node is withdrawn.');
  });

  test('warns of a deprecated version, and has no notices or empty boxes for a plain one', () => {
    const deprecated = nodePage(site, filesOf(listed('whole', whole)), '1.0.0+a');

    expect(plain(deprecated)).toContain('Version 1.0.0+a is deprecated.');
    expect(pageOf('plain', {})).not.toMatch(/class="notice|In other languages/);
  });

  test('offers no command with what a shell would read as more than a word', () => {
    const versions = [version('a', '1.0.0', { downloadUrl: "https://a.example/';ls;'.zip" })];
    expect(pageOf('a', { versions })).not.toContain('curl');
  });

  test('says of a version that is gone so', () => {
    expect(plain(nodePage(site, filesOf(listed('whole')), '9.0.0'))).toContain(
      'Version 9.0.0 of this node is not offered any more.',
    );
  });

  test('shows no text of a publisher as markup, and none that turns another', () => {
    const texts = ({ shape }: typeof Node | typeof HostNode) =>
      Object.fromEntries(
        Object.entries(shape).flatMap(([field, schema]) =>
          schema.safeParse('x').success ? [[field, `javascript:${hostile}${turned}`]] : [],
        ),
      );
    const bad = version('bad', '1.0.0', {
      changelog: hostile + turned,
      dependencies: [hostile],
      supported_os: [hostile],
      tags: [hostile],
      downloadUrl: `javascript:${hostile}`,
    });
    const publisher = { id: 'acme', name: hostile, website: 'javascript:alert(1)', support: hostile };
    const own = { id: 'bad', publisher, tags: [hostile], versions: [bad] };
    const translations = { [hostile]: hostile };
    const item = listed('bad', { ...texts(Node), ...own, translations }, [texts(HostNode)]);
    const entries = entriesOf([item]);
    const pages = [nodePage(site, filesOf(item)), publisherPage(site, publisher, entries)];

    for (const each of [...pages, ...entries.map((entry) => entryCard(entry).text)])
      expect(each.match(/<script>|(?:href|src)="javascript|[\u200b\u202e]/)?.[0]).toBeUndefined();
  });
});

describe('a README', () => {
  test('has no id of a README’s heading for a part of its own', () => {
    const files = filesOf(listed('a'));
    const text = '# Title\n\n# Host nodes';
    const readme = { node_id: 'a', version: '1.0.0', text, html: renderReadme(text, place) };
    const ids = nodePage(site, { ...files, readme }).match(/(?<= id=")[^"]+/g) ?? [];

    expect(ids).toContain('readme-title');
    expect(ids).toHaveLength(new Set(ids).size);
  });

  test('hides its first heading if that only repeats the name of the node', () => {
    const headings = (name: string) =>
      /<h3 class="h1[^"]*"/.exec(nodePage(site, filesOf(listed('a', { name, readme: '# C & D' }))))?.[0];
    expect([headings('c & d'), headings('C')]).toEqual(['<h3 class="h1 unseen"', '<h3 class="h1"']);
  });

  const rel = 'rel="noopener noreferrer nofollow"';
  const raw = `https://raw.githubusercontent.com/acme/blend/${commit}`;

  test.each([
    ['# Hi **x**', '<h3 class="h1" id="readme-hi-x">Hi <strong>x</strong></h3>\n'],
    [
      '# a\n# a\n### c',
      '<h3 class="h1" id="readme-a">a</h3>\n<h3 class="h1" id="readme-a-1">a</h3>\n<h4 class="h3" id="readme-c">c</h4>\n',
    ],
    [
      '[a](docs/more.md) [b](#Über%20uns) <a name="X y">c</a>',
      `<p><a href="https://github.com/acme/blend/blob/${commit}/docs/more.md" ${rel}>a</a> <a href="#readme-über-uns">b</a> <span id="readme-x-y">c</span></p>\n`,
    ],
    ['[a](../../../../x) [c](javascript:alert)', '<p><span>a</span> <span>c</span></p>\n'],
    ['<a href="java&#115;cript:alert(1)" onclick=x style=y>a</a>', '<p><span>a</span></p>\n'],
    [
      '![p](docs/1.png) ![r](http://x.example/a.png) ![q](https://x.example/a.png)',
      `<p><img src="${raw}/docs/1.png" alt="p" loading="lazy"> r <img src="https://x.example/a.png" alt="q" loading="lazy"></p>\n`,
    ],
    [
      '<img alt="a>b" src="https://x.example/&quot;onerror=1">',
      '<img src="https://x.example/%22onerror=1" alt="a&gt;b" loading="lazy">',
    ],
    ['</div></section><b>open', '<b>open</b>'],
    ['<b>x</i> y', '<p><b>x y</b></p>\n'],
    ['<div>1 < 2</div>', '<div>1 &lt; 2</div>'],
    ['<svg><style><img onerror=x></style></svg><script>x</script><!-- y -->z', '<p>z</p>\n'],
    ['Use <style> and <svg onload=x> **well**', '<p>Use  and  <strong>well</strong></p>\n'],
    ['<p title="&constructor; &copy;">a', '<p title="&amp;constructor; &amp;copy;">a</p>'],
    ["<p title='\"onmouseover=x'>a", '<p title="&quot;onmouseover=x">a</p>'],
    ['a &#x202e;gnp.exe &rlm;\u202e &lt;b&gt;', '<p>a gnp.exe  &lt;b&gt;</p>\n'],
    ['`<img onerror>`', '<p><code>&lt;img onerror&gt;</code></p>\n'],
    [
      '```js\n1 < 2\n```',
      '<pre tabindex="0"><code><span class="hljs-number">1</span> &lt; <span class="hljs-number">2</span>\n</code></pre>\n',
    ],
    ['```unknown\n1\n```', '<pre tabindex="0"><code>1\n</code></pre>\n'],
    ['- [x] a\n- [ ] b', '<ul dir="auto">\n<li>☑ a</li>\n<li>☐ b</li>\n</ul>\n'],
    [
      '> [!NOTE]\n> Take care.',
      '<blockquote dir="auto">\n<p><strong>Note</strong><br>\nTake care.</p>\n</blockquote>\n',
    ],
    [
      'Fast[^1].\n\n[^1]: On *one* card.',
      '<p>Fast<sup><a href="#readme-fn-1">1</a></sup>.</p>\n<p id="readme-fn-1"><sup>1</sup> On <em>one</em> card.</p>\n',
    ],
  ])('%j becomes what can only be read', (text, expected) => {
    expect(renderReadme(text, place, 60_000)).toBe(expected);
  });

  test.each([
    ['https://github.com/acme/blend', '<a href="https://github.com/acme/blend/blob/HEAD/a.png"'],
    [
      'https://github.com/acme/blend/tree/v1.0.0/sub',
      '<img src="https://raw.githubusercontent.com/acme/blend/v1.0.0/sub/a.png"',
    ],
    ['https://gitlab.com/a/b/c/-/tree/1.0.0', '<img src="https://gitlab.com/a/b/c/-/raw/1.0.0/a.png"'],
    ['https://codeberg.org/a/b/src/tag/v1.0.0', '<img src="https://codeberg.org/a/b/raw/tag/v1.0.0/a.png"'],
    ['https://github.com/acme/blend/tree/main', '<a href="https://github.com/acme/blend/blob/HEAD/a.png"'],
    ['https://code.example/acme/blend', '<p>p</p>'],
    ['https://constructor/acme/blend', '<p>p</p>'],
  ])('links a picture of %s, and shows only one of the version', (repository, expected) => {
    const version = { version: '1.0.0' };

    expect(renderReadme('![p](a.png)', { path: 'README.md', repository, version }, 60_000)).toContain(
      expected,
    );
  });

  test.each([
    ...['*a', '> ', '<style>', '<style></style'].map((part) => part.repeat(200_000 / part.length)),
    `${'<i>'.repeat(66_000)}x`,
  ])('that is too much is shown as text, or with a bounded depth: %#', (text) => {
    const shown = renderReadme(text, place);

    expect(shown.length).toBeLessThanOrEqual(400_000);
    expect((shown.match(/<i>/g) ?? []).length).toBeLessThanOrEqual(40);
  });

  test('is text unless it is Markdown', () => {
    expect(renderReadme('# Hi', { ...place, path: 'README.rst' })).toBe('');
  });
});

test.each([
  ['/', '/pages/home.html'],
  ['/search', '/site/index.html'],
  ['/nodes', '/pages/nodes.html'],
  ['/nodes/My__Node.X/', '301 /nodes/my-node-x'],
  ['/nodes/my-node-x', '/pages/nodes/my-node-x.html'],
  ['/nodes/a/v1.0', '301 /nodes/a/1.0.0'],
  ['/nodes/a/1.0.0+b', '/pages/nodes/a/1.0.0%2Bb.html'],
  ['/nodes/a/1.0.0%2Bb', '/pages/nodes/a/1.0.0%2Bb.html'],
  ['/nodes/%E0%A4%A', '301 /nodes/%25e0%25a4%25a'],
  ['/publishers/Acme', '301 /publishers/acme'],
  ['/feed.xml', '/pages/feed.xml'],
  ['/index/v1/nodes/a/1.0.0+b/host-nodes.json', '/index/v1/nodes/a/1.0.0%2Bb/host-nodes.json'],
  ['/search/', '301 /search'],
  ['/lost', '/pages/lost'],
  ['/archives/a.zip', '/pages/archives/a.zip'],
  ['/index/', '/index/'],
  ['//thief.example/', '/pages//thief.example'],
  ['/nodes/%2e%2e/..%2findex', '301 /nodes/-/..%2Findex'],
])('an address %s leads to %s', (address, object) => {
  const { path, location } = leadAddress(address);
  expect(location === undefined ? path : `301 ${location}`).toBe(object);
});

describe('the lists', () => {
  const bad = `${hostile}\u0000`;
  const entries = entriesOf([listed('a', { name: bad, description: bad }), listed('b-b', { name: 'B' })]);

  test('order nodes by ranking, then by the downloads of 90 days, then by name', () => {
    const used: Record<string, object> = { c: { downloads_90_days: 2 }, d: { search_ranking: 1 } };
    const given = entriesOf(['b', 'a', 'c', 'd'].map((id) => listed(id)));

    expect(
      given
        .map((entry) => ({ ...entry, ...used[entry.id] }))
        .sort(byUse)
        .map(({ id }) => id),
    ).toEqual(['d', 'c', 'a', 'b']);
  });

  test('count the downloads of 30 days, with today', () => {
    const downloads_by_day = Object.fromEntries([0, 29, 30].map((days) => [dayBefore(days), days + 1]));

    expect(entriesOf([listed('a', { downloads_by_day })])).toMatchObject([{ downloads_30_days: 31 }]);
  });

  test('are a feed that keeps the rules of Atom (RFC 4287)', () => {
    const [one, empty] = [
      feed('https://nodes.example', 'Nodes', entries.slice(0, 1)),
      feed('https://nodes.example', 'Nodes', []),
    ];
    const shown = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;';

    expect(one).toBe(`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>https://nodes.example/</id><title>Nodes: new versions</title><updated>2026-01-06T00:00:00.000Z</updated>
<link rel="self" href="https://nodes.example/feed.xml"/><link href="https://nodes.example/"/>
<entry><id>https://nodes.example/nodes/a/1.0.0</id>
<title>${shown} 1.0.0</title><updated>2026-01-06T00:00:00.000Z</updated>
<link href="https://nodes.example/nodes/a/1.0.0"/>
<author><name>Acme Nodes</name></author>
<summary>${shown}</summary></entry>
</feed>
`);
    expect(empty).toContain('<updated>1970-01-01T00:00:00Z</updated>');
  });

  test('are a sitemap with the pages of publishers', () => {
    expect(sitemap('https://nodes.example', entries)).toContain(
      '<loc>https://nodes.example/publishers/acme</loc>',
    );
  });
});

describe('the built site', () => {
  let files: BuiltFile[];
  const textOf = (page: string) => String(files.find(({ path }) => path === page)?.content ?? '');
  const bytesOf = (...paths: string[]) =>
    files
      .filter(({ path }) => paths.some((each) => path.endsWith(each)))
      .reduce((sum, { content }) => sum + gzipSync(content).length, 0);

  beforeAll(async () => {
    files = await buildSite(site);
  }, 60_000);

  test('has the licenses of the packages in its scripts beside them', () => {
    expect(textOf('site/third-party.txt')).toMatch(
      /^fastest-levenshtein \d.*\n[\s\S]+Permission is hereby granted/m,
    );
  });

  /** At 400 kbit/s a second brings 50,000 bytes; connecting takes most of the first. */
  test('needs 50,000 bytes in six requests before the first of 4,000 nodes is shown', () => {
    const top = JSON.stringify({ nodes: entriesOf(manyNodes(100)) });

    expect(textOf(sitePage).match(/="\/site\/[^"]+(?:css|js)"/g)).toEqual([
      '="/site/site.css"',
      '="/site/search.js"',
      '="/site/parts.css"',
    ]);
    expect(
      bytesOf(sitePage, 'site.css', 'parts.css', 'search.js', 'search-worker.js') + gzipSync(top).length,
    ).toBeLessThan(50_000);
    expect(bytesOf('page.js')).toBeLessThan(1500);
  });

  test('has policies without inline scripts, a feed, and a page for what is missing', () => {
    expect(textOf(sitePage)).toContain('href="/feed.xml"');
    for (const page of [sitePage, unknownPath]) {
      const text = textOf(page);
      expect(text).not.toMatch(/<style|<script>| style=| on\w+=|unsafe/);
      expect(text).toContain('content="default-src &#39;none&#39;; script-src &#39;self&#39;; ');
    }
  });
});
