import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { accessibilityProblems, hasBrowser, launchBrowser, note, openPage } from 'testing/browser';
import { nodePath } from 'registry-rules/index-paths';
import { listed, manyNodes, version } from './listed-nodes.ts';
import { type SiteHost, serveSite } from './serve-files.ts';

const readme = `# Demo pack

Blends **two** images. See [the guide](https://guide.example/start) and [a file](docs/more.md),
[one of the root](/LICENSE), [issues](../../issues), [a part](#install), [outside](../../../../other),
[a host](//thief.example/a), [a script](javascript:alert(1)) and ![a picture](docs/one.png).

## Install

| Option | Meaning |
|---|---|
| \`share\` | How much of the second |

\`\`\`python
import blend
\`\`\`
`;
const provenance = {
  ...{
    issuer: 'https://ci.example',
    repository: 'acme/blend',
    commit: 'c0ffee0123456789',
    ref: 'refs/tags/v2',
  },
  ...{ workflow: 'release.yml', run: '7' },
};
const hostNodes = [
  {
    host_node_name: 'BlendImages',
    display_name: 'Blend Images',
    category: 'image/blend',
    description: 'Mixes two images.',
    experimental: true,
    input_types: JSON.stringify({
      required: {
        first: ['IMAGE', {}],
        share: ['FLOAT', { default: 0.5, min: 0, max: 1 }],
        mode: [['normal', 'multiply', 'screen'], {}],
        label: ['STRING', { forceInput: true }],
      },
      optional: { mask: ['MASK', {}] },
      hidden: { unique_id: 'UNIQUE_ID' },
    }),
    return_types: '["IMAGE","MASK"]',
    return_names: '["blended"]',
    output_is_list: [false, true],
  },
  { host_node_name: 'LoadPlain', return_types: 'IMAGE', policy: 'HostNodePolicyLocalOnly' as const },
  { host_node_name: 'Unknown', input_types: 'written by hand', deprecated: true },
];
const longName = 'reference_image_embedding_of_the_subject';
const registry = [
  listed(
    'blend',
    {
      name: 'Blend',
      description: 'Blends two images.',
      tags: ['image', 'color'],
      repository: 'https://code.example/acme/blend',
      readme,
      versions: [
        version('blend', '2.0.0', {
          provenance,
          dependencies: ['numpy>=2', 'pillow'],
          createdAt: '2026-05-01T00:00:00.000Z',
        }),
        version('blend', '1.0.0', { deprecated: true }),
      ],
    },
    hostNodes,
  ),
  listed('unseen', { name: '\u2060 \u115f', tags: ['\u200b'] }),
  listed('wide', {}, [
    {
      host_node_name: 'Wide',
      input_types: JSON.stringify({
        required: { [longName]: ['MODEL'], [`${longName}_2`]: [['normal', 'multiply']] },
      }),
      return_types: '["CONDITIONING"]',
    },
  ]),
  listed('samples', {
    description: 'Samples a video twice',
    tags: ['video'],
    readme: '# Samples \u202egnp.exe&#x2066;',
  }),
  listed('withdrawn', { status: 'NodeStatusDeleted', status_detail: 'Use blend.' }),
  listed('evil', { status: 'NodeStatusBanned', versions: [] }),
  ...Array.from({ length: 40 }, (_, place) => listed(`filler-${place}`, { name: `Filler ${place}` })),
];

let host: SiteHost;
let browser: Browser;
let page: Page;
let problems: string[];

const inBrowser = hasBrowser ? describe : describe.skip;

async function open(hash: string, width = 1280): Promise<void> {
  ({ page, problems } = await openPage(browser, width));
  await page.goto(host.url + hash);
}

const status = (text: string | RegExp) => page.locator('#search-status', { hasText: text }).waitFor();
const results = () => page.locator('#results h2 a').allTextContents();
const width = () => page.evaluate('document.documentElement.scrollWidth');
const textOf = async (selector: Locator) => (await selector.allInnerTexts()).join('\n');
const shownText = () => textOf(page.locator('main'));

inBrowser(`shows the site in a browser${note}`, () => {
  beforeAll(async () => {
    [host, browser] = await Promise.all([serveSite(registry), launchBrowser()]);
  });

  afterAll(async () => {
    await browser.close();
    host.stop();
  });

  afterEach(async () => {
    host.disturb = undefined;
    expect(problems).toEqual([]);
    await page.close();
  });

  test.each([
    [1280, 'light'],
    [360, 'dark'],
  ] as const)('passes axe, and fits its width, at %d pixels in %s colors', async (pixels, colorScheme) => {
    await open('#/', pixels);
    await page.emulateMedia({ colorScheme });
    await status('44 nodes');
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await width()).toBe(pixels);
    await page.getByRole('link', { name: 'Blend', exact: true }).click();
    await page.locator('.readme h3').first().waitFor();
    await page.locator('.host-node').first().waitFor();

    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await width()).toBe(pixels);
  });

  describe('the search', () => {
    test('finds the typed words, by keyboard alone, and leads to the node', async () => {
      await open('#/');
      await status('44 nodes');
      await page.getByLabel('Search').focus();
      await page.keyboard.type('video twice');
      await status('1 node');
      expect(await results()).toEqual(['samples']);
      expect(page.url()).toMatch(/#\/\?q=video\+twice$/);
      for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');

      await page.getByRole('heading', { level: 1, name: 'samples' }).waitFor();
      expect(await page.title()).toBe('samples · Node registry');
      expect(await page.evaluate('document.activeElement.id')).toBe('main');
    });

    test('filters by tag and orders by name and date, as its address says', async () => {
      await open('#/?tag=image&order=newest');
      await status('1 node');
      expect(await results()).toEqual(['Blend']);
      await page.getByLabel('Tag', { exact: true }).selectOption('');
      await status('44 nodes');
      expect((await results())[0]).toBe('Blend');
      await page.getByLabel('Order').selectOption('name');

      await page.locator('#results li:nth-child(2)', { hasText: 'Blend' }).waitFor();
      expect((await results())[2]).toBe('Filler 0');
    });

    test('shows thirty nodes, and more on request', async () => {
      await open('#/');
      await status('44 nodes');
      expect(await results()).toHaveLength(30);
      await page.getByRole('button', { name: 'Show more (14 left)' }).click();

      expect(await results()).toHaveLength(44);
      expect(await page.getByRole('button', { name: /Show more/ }).count()).toBe(0);
    });

    test('says that nothing matches, and shows no withdrawn or banned node', async () => {
      await open('#/?q=withdrawn');
      await status('No node matches');
      await page.getByLabel('Search').fill('evil');
      await status('No node matches');

      expect(await results()).toEqual([]);
    });

    test('finds one of 4,000 nodes', async () => {
      const large = await serveSite(manyNodes(4000));
      ({ page, problems } = await openPage(browser, 360));
      await page.goto(large.url);
      await status('4,000 nodes');
      await page.getByLabel('Search').fill('sampler 3975');

      await page.locator('#results li:first-child h2', { hasText: 'sampler depth 3975' }).waitFor();
      large.stop();
    });

    test('shows no empty state while the catalog is loading', async () => {
      const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
      host.disturb = async (path) => {
        if (!path.includes('/catalog/')) return undefined;
        asked.resolve();
        return held.promise;
      };
      await open('#/');
      await asked.promise;
      expect(await page.locator('#search-status').textContent()).toBe('Loading the catalog…');
      held.resolve(undefined);

      await status('44 nodes');
    });

    test('reports an unreadable index, and tries again', async () => {
      host.disturb = async (path) => (path.startsWith('index/') ? 500 : undefined);
      await open('#/');
      await status('was answered 500');
      host.disturb = undefined;
      await page.getByRole('button', { name: 'Try again' }).click();

      await status('44 nodes');
    });

    test('keeps the results of a search when an earlier one fails after it', async () => {
      const held = Promise.withResolvers<void>();
      let asked = 0;
      ({ page, problems } = await openPage(browser, 1280));
      await page.route('**/config.json', async (route) => {
        asked += 1;
        if (asked > 1) return route.continue();
        await held.promise;
        return route.fulfill({ status: 404 });
      });
      await page.goto(`${host.url}#/`);
      await page.getByLabel('Search').fill('video twice');
      await status('1 node');
      const late = page.waitForResponse((response) => response.status() === 404);
      held.resolve();
      await late;
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))');

      expect(await page.locator('#search-status').textContent()).toBe('1 node');
      expect(await results()).toEqual(['samples']);
    });

    test('says of a new registry that nothing is published', async () => {
      const empty = await serveSite([]);
      ({ page, problems } = await openPage(browser, 1280));
      await page.goto(empty.url);

      await status('Nothing is published here yet.');
      empty.stop();
    });

    test.each(['#/', '#/nodes/blend'])(
      'says at %s of a stage without a publisher that nothing is published yet',
      async (hash) => {
        host.disturb = async (path) => (path.startsWith('index/') ? 404 : undefined);
        await open(hash);

        await page
          .locator('.notice', { hasText: /^Nothing is published yet at .*, or the address is wrong/ })
          .waitFor();
      },
    );

    test('asks for each file once, however many letters are typed', async () => {
      const asked: string[] = [];
      host.disturb = async (path) => {
        if (path.startsWith('index/')) asked.push(path);
        return undefined;
      };
      await open('#/');
      await status('44 nodes');
      const steps = await page.evaluate('history.length');
      await page.getByLabel('Search').pressSequentially('video twice');
      expect(await page.evaluate('history.length')).toBe(steps);
      await status('1 node');

      expect(asked).toHaveLength(17);
      expect(new Set(asked).size).toBe(17);
    });
  });

  describe('the page of a node', () => {
    test('draws host nodes with sockets, widgets, defaults and titles', async () => {
      await open('#/nodes/Blend');
      const card = page.locator('.host-node', { hasText: 'Blend Images' });
      await card.waitFor();

      expect(await card.getByRole('list', { name: 'Inputs' }).getByRole('listitem').allInnerTexts()).toEqual([
        'first\nIMAGE',
        'label\nSTRING',
        'mask\nMASK, optional',
      ]);
      expect(await card.getByRole('list', { name: 'Outputs' }).getByRole('listitem').allInnerTexts()).toEqual(
        ['blended\nIMAGE', 'MASK\nlist'],
      );
      expect(await card.getByRole('list', { name: 'Widgets' }).getByRole('listitem').allInnerTexts()).toEqual(
        ['share\nFLOAT\n0.5', 'mode\none of 3\nnormal'],
      );
      const colors: string[] = await page.evaluate(
        "[...document.querySelectorAll('.host-node:first-child .dot')].map((dot) => getComputedStyle(dot).borderColor)",
      );
      expect(new Set([colors[0], colors[1], colors[2]]).size).toBe(3);
      expect(colors[0]).toBe(colors[3]);
      expect(await textOf(card)).toMatch(/experimental.*BlendImages in image\/blend/s);
      expect(await textOf(page.locator('.host-node', { hasText: 'LoadPlain' }))).toContain('local only');
      expect(await textOf(page.locator('.host-node', { hasText: 'Unknown' }))).toContain('are not known');
    });

    test('leaves outputs and values their width next to names of 40 letters', async () => {
      await open('#/nodes/wide', 360);
      const card = page.locator('.host-node');
      await card.waitFor();
      const wide = await width();
      const boxes: { name: string; width: number; height: number }[] = await page.evaluate(
        `[...document.querySelectorAll('.outputs bdi, .value bdi')].map((each) => {
          const { width, height } = each.getBoundingClientRect();
          return { name: each.textContent, width, height };
        })`,
      );

      expect(wide).toBe(360);
      expect(boxes.map(({ name }) => name)).toEqual(['CONDITIONING', 'normal']);
      // One line each.
      for (const { height, width } of boxes) expect([height < 24, width > 35]).toEqual([true, true]);
      const [inputs, outputs] = await Promise.all(
        ['Inputs', 'Outputs'].map((name) => card.getByRole('list', { name }).boundingBox()),
      );
      expect(Number(inputs?.x) + Number(inputs?.width)).toBeLessThanOrEqual(Number(outputs?.x));
    });

    test('spells out names and tags of invisible characters, so that they can be pressed', async () => {
      await open('#/?tag=%E2%80%8B');
      await status('1 node');
      expect(await page.getByRole('list', { name: 'Tags' }).textContent()).toBe('U+200B');
      await page.getByRole('link', { name: 'U+2060 U+0020 U+115F' }).click();

      await page.getByRole('heading', { level: 1, name: 'U+2060 U+0020 U+115F' }).waitFor();
    });

    test('shows versions, provenance, dependencies, the line that installs, and the README', async () => {
      await open('#/nodes/blend');
      await page.locator('.readme h3').first().waitFor();
      const text = await shownText();

      expect(text).toMatch(
        /Published by\s+acme\/blend, release.yml, run 7, commit c0ffee012345 of refs\/tags\/v2/,
      );
      expect(text).toMatch(/numpy>=2\s+pillow/);
      expect(text).toMatch(
        /curl -fLo blend-2\.0\.0\.zip https:\/\/downloads\.example\/\S+ &&\s+echo '(ab){32} {2}/,
      );
      expect(text).toMatch(/2\.0\.0 latest.*1\.0\.0 deprecated/s);
      const links = await page.evaluate(
        "[...document.querySelectorAll('.readme a, .introduction dl a')].map(({ href, rel }) => [href, rel])",
      );
      expect(links).toEqual([
        ['https://code.example/acme/blend', 'noopener noreferrer nofollow'],
        ['https://guide.example/start', 'noopener noreferrer nofollow'],
        ['https://code.example/acme/blend/blob/HEAD/docs/more.md', 'noopener noreferrer nofollow'],
        ['https://code.example/acme/blend/blob/HEAD/LICENSE', 'noopener noreferrer nofollow'],
        ['https://code.example/acme/blend/issues', 'noopener noreferrer nofollow'],
      ]);
      expect(await textOf(page.locator('.readme'))).toMatch(
        /a part, outside,\sa host, a script and a picture/,
      );
    });

    test.each([undefined, 'http://code.example/acme/blend'])(
      'leaves relative links as text with %s as repository',
      async (repository) => {
        const file = nodePath('blend');
        const node = host.index.get(file) as string;
        host.index.set(file, JSON.stringify({ ...JSON.parse(node), repository }));
        await open('#/nodes/blend');
        await page.locator('.readme h3').first().waitFor();
        const links = await page.evaluate(
          "[...document.querySelectorAll('.readme a')].map(({ href }) => href)",
        );
        host.index.set(file, node);

        expect(links).toEqual(['https://guide.example/start']);
      },
    );

    test('shows an older version with its marks, and says of a missing one that it is missing', async () => {
      await open('#/nodes/blend/1.0.0');
      await page.locator('.notice', { hasText: 'Version 1.0.0 is deprecated' }).waitFor();
      expect(await shownText()).toContain('a person, with a personal access token');
      await page.getByRole('link', { name: '2.0.0' }).click();
      await page.getByRole('heading', { name: 'Version 2.0.0' }).waitFor();
      await page.goto(`${host.url}#/nodes/blend/9.9.9`);

      await page.locator('.notice', { hasText: 'This node has no version 9.9.9.' }).waitFor();
    });

    test.each([
      ['withdrawn', /Its owner has withdrawn this node.*Use blend\./],
      ['evil', /This node is banned\. Do not install it\./],
      ['unknown', /This registry has no such node/],
    ])('says what %s is, and offers no install line', async (id, sentence) => {
      await open(`#/nodes/${id}`);
      await page.locator('.notice', { hasText: sentence }).waitFor();

      expect(await page.locator('.copyable').count()).toBe(0);
    });

    test('shows the README of each node that is visited, there and back, without a reload', async () => {
      const title = (text: string) => page.locator('.readme h3', { hasText: text }).waitFor();
      await open('#/');
      await page.getByRole('link', { name: 'Blend', exact: true }).click();
      await title('Demo pack');
      await page.goBack();
      await page.getByLabel('Search').fill('samples');
      await page.getByRole('link', { name: 'samples', exact: true }).click();
      await title('Samples');
      await page.goBack();
      await status('1 node');
      await page.getByLabel('Search').fill('blend');
      await page.getByRole('link', { name: 'Blend', exact: true }).click();
      await title('Demo pack');

      expect(await page.locator('.notice.bad').count()).toBe(0);
    });

    test('shows a README without controls that turn the direction of its text', async () => {
      await open('#/nodes/samples');

      expect(await page.locator('.readme h3').textContent()).toBe('Samples gnp.exe');
    });

    test('says in a sentence that a part of the page did not work, and loads it again', async () => {
      await open('#/');
      await page.route('**/site/readme*', (route) => route.abort());
      await page.goto(`${host.url}#/nodes/blend`);
      const notice = page.locator('.notice.bad');
      await notice.waitFor();
      expect(await notice.locator('p').textContent()).toBe('This part of the page did not work.');
      expect(problems.splice(0)).toEqual([expect.stringMatching(/dynamically imported module/)]);
      await page.unroute('**/site/readme*');
      await notice.getByRole('button', { name: 'Load the page again' }).click();

      await page.locator('.readme h3').first().waitFor();
    });

    test('loads without the code for Markdown unless there is a README', async () => {
      await open('#/nodes/filler-0');
      const scripts: string[] = [];
      page.on('request', (request) => scripts.push(request.url()));
      await page.getByText('This version has no host nodes.').waitFor();
      expect(scripts.filter((url) => url.includes('/site/readme'))).toEqual([]);
      await page.goto(`${host.url}#/nodes/blend`);
      await page.locator('.readme h3').first().waitFor();

      expect(scripts.filter((url) => url.includes('/site/readme'))).toHaveLength(1);
    });
  });
});
