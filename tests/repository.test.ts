import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, parse as parsePath, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { StatusReasonCode } from '@node-registry/registry-rules/schemas/node-version';
import { parse } from 'yaml';
import { fileOf, loadContracts, selfServiceContracts } from '../infra/operations.ts';
import { texts } from '../infra/template/alarm-texts.ts';
import type { Contract } from '../lib/contract.ts';
import { errorCatalog } from '../lib/errors.ts';
import { laneNames } from '../lib/work/lanes.ts';
import { alarmTable, withAlarmTable } from '../tools/documents/alarms.ts';
import { configurationDocument } from '../tools/documents/configuration.ts';
import { laneTable } from '../tools/documents/lanes.ts';
import { errorsOf } from '../tools/openapi/answers.ts';

/** Keeps functions, events, routes and documents in step with the code. */

const readme = readFileSync('README.md', 'utf8');
const proxyExamples = readFileSync('docs/examples/proxies.http', 'utf8');
/** All that is or will be committed. */
const tree = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => existsSync(file));
const namesIn = (folder: string) =>
  tree.flatMap((file) => (dirname(file) === folder ? [parsePath(file).name] : []));
const sources = (folder: string) => tree.filter((file) => isIn(file, folder) && file.endsWith('.ts'));
const names = namesIn('functions');
const endpoints = namesIn('lib/contracts');
type Template = Record<string, { events: { httpApi?: string }[] }>;
const template: Template = parse(readFileSync('serverless.yml', 'utf8')).functions;
const functions = new Map(Object.entries(template).map(([name, entry]) => [fileOf(name), entry]));
const contracts = await loadContracts();
const contractOf = (file: string) => contracts.find(({ name }) => fileOf(name) === file) as Contract;

function isIn(file: string, room: string): boolean {
  return file === room || file.startsWith(`${room}/`);
}

const { resolve } = createRequire(import.meta.url);

/** The project's own files and the packages that a file imports. */
function importsOf(file: string): { own: string[]; packages: string[] } {
  const specifiers = [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(
    ([, name]) => String(name),
  );
  const isOwn = (name: string) => /^\.|^@node-registry\//.test(name);
  return {
    own: specifiers
      .filter(isOwn)
      .map((name) => (name.startsWith('.') ? join(dirname(file), name) : relative('.', resolve(name))))
      // A text that is made to be bundled has addresses of its own.
      .filter((name) => existsSync(name)),
    packages: specifiers.filter((name) => !isOwn(name)),
  };
}

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const wordsOfReadme = new Set(readme.match(/\w+/g)?.map(fileOf));
const rowsOfProxies = readFileSync('tests/contract/proxies.test.ts', 'utf8');
/** What the command and the page call, and what only other clients do. */
const usesOfPeople = globSync(['packages/publish-node/*.ts', 'packages/site/account/*.ts*'])
  .map((file) => readFileSync(file, 'utf8'))
  .join('');
const forOtherClients = ['getPermissionOnPublisherNodes', 'updateMember'];
/** Their routes have contracts elsewhere, or are not the interface's. */
const isOfNoContract = (name: string) =>
  ['receive-notification', 'self-service', 'task-results', 'unknown-route'].includes(name);

describe('a function of the service', () => {
  test.each([...new Set([...names, ...functions.keys(), ...namesIn('events'), ...endpoints])])(
    '%s has all of its parts',
    (name) => {
      const contract = contracts.find((each) => fileOf(each.name) === name);
      const { name: its = '', method, path = '' } = contract ?? {};
      const route = `${method} ${path}`;
      const routes = functions.get(name)?.events.flatMap(({ httpApi }) => httpApi ?? []) ?? [];
      const event = `events/${name}.json`;
      const inRows = `rows('${name}', {`;
      const parts: [isThere: boolean | undefined, part: string][] = [
        [names.includes(name), `functions/${name}.ts`],
        [functions.has(name), 'an entry under functions in serverless.yml'],
        [wordsOfReadme.has(name), 'README.md: its name'],
        [existsSync(event), `${event}: a copy of a sibling's`],
        [
          existsSync(`tests/functions/${name}.test.ts`) || rowsOfProxies.includes(inRows),
          `tests/functions/${name}.test.ts, or of a proxy ${inRows} … in tests/contract/proxies.test.ts`,
        ],
        [routes.length === 0 || isOfNoContract(name) || !!contract, `lib/contracts/${name}.ts`],
      ];
      if (contract)
        parts.push(
          [routes.join() === route, `serverless.yml: httpApi: ${route}`],
          [
            existsSync(event) && JSON.parse(readFileSync(event, 'utf8')).routeKey === route,
            `${event}: routeKey ${route}, and the same in its other fields`,
          ],
          [readme.includes(`\`${route}\` | \`${its}\``), `README.md: a row \`${route}\` | \`${its}\``],
          [
            !path.startsWith('/proxy/') || proxyExamples.includes(`${method} {{host}}${path}\n`),
            `docs/examples/proxies.http: ${method} {{host}}${path}`,
          ],
        );

      if (name === 'self-service')
        for (const { name: its, method, path } of selfServiceContracts)
          parts.push(
            [routes.includes(`${method} ${path}`), `serverless.yml: httpApi: ${method} ${path}`],
            [
              forOtherClients.includes(its) || usesOfPeople.includes(`'${its}'`),
              `${its}: a command in packages/publish-node, or its place in packages/site/account`,
            ],
          );

      expect(parts.flatMap(([isThere, part]) => (isThere ? [] : [part]))).toEqual([]);
    },
  );

  test.each(names)('keeps %s short, without JSON, errors, the environment and the SDK', (name) => {
    const source = readFileSync(`functions/${name}.ts`, 'utf8');

    expect(source.split('\n').length).toBeLessThanOrEqual(50);
    expect(source).not.toMatch(/\btry\b|\bcatch\b|JSON\.|process\.env|@aws-sdk|\blog\(/);
    expect(source.match(/^export /gm)).toHaveLength(1);
  });
});

/**
 * The rooms of lib from the ground up: a file imports from its own room and from the ones below, never from a
 * neighbor on the same floor. Files of lib itself are the ground.
 */
const floors = [
  ['outgoing'],
  ['aws', 'schemas', 'auth'],
  ['store', 'contracts', 'bucket'],
  ['work'],
  ['registry', 'archives', 'providers'],
  ['attempts'],
  ['notifications'],
  ['uploads', 'http', 'index', 'downloads'],
  ['self-service'],
];

/** -1 for a file of lib itself. */
const floorOf = (room: string) => floors.findIndex((rooms) => rooms.includes(room));

/** The room of a file of lib: '' for one of lib itself. */
function roomOf(file: string): string {
  return /^lib\/([^/]+)\//.exec(file)?.[1] ?? '';
}

describe('the rooms of lib', () => {
  const files = sources('lib');

  test('keep to a floor each', () => {
    const rooms = new Set(files.map(roomOf).filter((room) => room !== ''));

    expect([...rooms].sort()).toEqual(floors.flat().sort());
  });

  test.each(files)('%s imports only from its own room and the rooms below', (file) => {
    const { own } = importsOf(file);
    const room = roomOf(file);
    const wrong = own.filter((target) => {
      if (!target.startsWith('lib/')) return !target.startsWith('packages/');
      return roomOf(target) !== room && floorOf(roomOf(target)) >= floorOf(room);
    });

    expect(wrong).toEqual([]);
  });

  test('hold only files that a function reaches', () => {
    // A thread's file is named by an address, next to the one that starts it.
    const first = [...sources('functions'), ...files.filter((name) => name.endsWith('-worker.ts'))];
    const reached = new Set<string>();
    for (const file of first) reachedFrom(file, reached);

    expect(files.filter((file) => !reached.has(file))).toEqual([]);
  });

  test.each([
    ['@middy', 'http'],
    ['@aws-sdk/client-s3', 'bucket'],
    ['@aws-sdk/client-sqs', 'aws'],
  ])('use %s in the room %s only', (name, room) => {
    const users = files.filter((file) => importsOf(file).packages.some((each) => each.startsWith(name)));

    expect(new Set(users.map(roomOf))).toEqual(new Set([room]));
  });

  test('have a worker of each lane, and what owes it', () => {
    const text = files.map((file) => readFileSync(file, 'utf8')).join('');
    const missing = laneNames.flatMap((lane) => [
      ...(new RegExp(`worker<\\w+>\\('${lane}'`).test(text) ? [] : [`worker('${lane}', …)`]),
      // An account's entries say when it is due.
      ...(lane === 'visit' || text.includes(`owe('${lane}'`) ? [] : [`owe('${lane}', …)`]),
    ]);

    expect(missing).toEqual([]);
  });

  test('name the table in the store only', () => {
    const naming = files.filter((file) => readFileSync(file, 'utf8').includes('TableName'));

    expect(naming.map(roomOf)).toEqual(naming.map(() => 'store'));
  });

  test('cast records in the typed reads only', () => {
    const casts = files.filter((file) => / as (?:\w+Record|Item)\b/.test(readFileSync(file, 'utf8')));

    expect(casts).toEqual([]);
  });
});

/** What each room may import, beside itself and packages from npm. Tests may import everything, and nothing imports them. */
const directions: Record<string, string> = {
  'packages/command-line': '',
  'packages/host-nodes': '',
  'packages/registry-client': '',
  'packages/registry-rules': 'packages/host-nodes',
  'packages/publish-node':
    'packages/registry-client packages/host-nodes packages/registry-rules packages/command-line',
  'packages/site': 'packages/registry-client packages/registry-rules packages/command-line',
  'packages/testing': 'packages/registry-client packages/publish-node',
  // The pages of nodes are written by what writes the index.
  lib: 'packages/host-nodes packages/registry-rules packages/site',
  functions: 'lib',
  // A deployment uploads the site, and names the release of package.json.
  infra: 'lib packages/registry-rules packages/command-line packages/site package.json',
  // The list of operations, and the release of a table.
  'tools/admin': 'lib packages/registry-rules packages/command-line infra/operations.ts infra/release.ts',
  tools: 'lib functions infra packages events',
};

describe('imports', () => {
  const rooms = Object.keys(directions);

  test('follow a direction in every package', () => {
    expect(readdirSync('packages').filter((name) => !rooms.includes(`packages/${name}`))).toEqual([]);
  });

  test('reach into no other package by a path', () => {
    const files = ['functions', 'lib', 'infra', 'packages', 'tools', 'tests'].flatMap(sources);
    const packageOf = (file: string) => /^packages\/[^/]+\//.exec(file)?.[0];
    const wrong = files.flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      const relatives = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, name = '']) =>
        relative('.', join(dirname(file), name)),
      );
      const inside = relatives.filter((target) => packageOf(target) && packageOf(target) !== packageOf(file));
      return inside.map((target) => `${file} imports ${target}`);
    });

    expect(wrong).toEqual([]);
  });

  test.each(rooms)('point one way from %s', (room) => {
    const allowed = [room, ...String(directions[room]).split(' ')];
    const files = sources(room).filter((file) => !/\/tests\//.test(file));
    const imports = files.flatMap((file) => importsOf(file).own.map((target) => [file, target] as const));

    expect(imports.filter(([, target]) => !allowed.some((each) => isIn(target, each)))).toEqual([]);
  });
});

/** All files that a file reaches, those that it loads later included. */
function reachedFrom(file: string, reached = new Set<string>()): Set<string> {
  if (reached.has(file)) return reached;
  reached.add(file);
  for (const target of importsOf(file).own) reachedFrom(target, reached);
  return reached;
}

/** What is never raised for a contract, though its function reaches the file; endpoint.test.ts and others show why. */
const raisedFor: [file: RegExp, isRaised: (contract: Contract) => boolean][] = [
  [/^lib\/attempts\/slot/, ({ idempotent }) => idempotent === true],
  [/^lib\/(?:attempts\/(?!slot)|providers\/provider-call)/, ({ price }) => price !== undefined],
  [/^lib\/auth\//, ({ access }) => access !== 'anyone'],
  // lib/registry/may.ts names its types.
  [/^lib\/registry\/credentials/, ({ name }) => name === 'publishNodeVersion'],
  // lib/attempts/request.ts gives them other codes; a bulk read writes nothing.
  [/^lib\/store\/dynamodb/, ({ price, access }) => price === undefined && access !== 'anyone'],
];
/** Of files that several endpoints share, what one of them does not call. */
const others: Record<string, readonly string[]> = {
  'publish-node-version': ['node_not_found', 'precondition_failed'],
  'update-host-node': ['precondition_failed', 'publisher_not_found'],
};

describe('the error codes', () => {
  test('contain no word that one client crashes on', () => {
    expect(Object.keys(errorCatalog).filter((code) => code.includes('message'))).toEqual([]);
  });

  test.each(endpoints)('include in its contract all that %s can raise', (name) => {
    const contract = contractOf(name);
    const known = new Set<string>([...errorsOf(contract), ...(others[name] ?? [])]);
    const raised = [...reachedFrom(`functions/${name}.ts`)].flatMap((file) => {
      if (raisedFor.some(([files, isRaised]) => files.test(file) && !isRaised(contract))) return [];
      const codes = [...readFileSync(file, 'utf8').matchAll(/new ApiError\(\s*'(\w+)'/g)];
      return codes.flatMap(([, code = '']) => (known.has(code) ? [] : [`${code} in ${file}`]));
    });

    expect(raised).toEqual([]);
  });
});

describe('the documents', () => {
  const packages = readdirSync('packages').map((name) => `packages/${name}/README.md`);
  const documents = [
    'README.md',
    'tools/admin/README.md',
    ...packages,
    ...readdirSync('docs').map((file) => `docs/${file}`),
  ]
    .filter((file) => file.endsWith('.md'))
    .map((file) => [file, readFileSync(file, 'utf8')] as const);
  const reference = readFileSync('docs/reference.md', 'utf8');

  test('README.md stays below 150 lines', () => {
    expect(readme.split('\n').length).toBeLessThan(150);
  });

  test('hold at most 16,500 words together: a sentence in, a sentence out', () => {
    const words = documents.flatMap(([, text]) => text.match(/\S+/g) ?? []);
    expect(words.length).toBeLessThanOrEqual(16_500);
  });

  test('docs/reference.md lists each error of the catalog once, with its status', () => {
    const rows = [...reference.matchAll(/^\| (\d{3}) ((?:`\w+`,? )+)\|/gm)];
    const listed = rows.flatMap(([, status, codes = '']) =>
      [...codes.matchAll(/\w+/g)].map(([code]) => `${status} ${code}`),
    );

    expect(listed.sort()).toEqual(
      Object.entries(errorCatalog)
        .map(([code, { status }]) => `${status} ${code}`)
        .sort(),
    );
  });

  test('docs/runbook.md has the alarms that npm run configuration writes', () => {
    const runbook = readFileSync('docs/runbook.md', 'utf8');
    const linked = alarmTable().match(/(?<=\]\()#[\w-]+(?=\))/g) ?? [];

    expect(withAlarmTable(runbook)).toBe(runbook);
    expect(runbook).toContain(alarmTable());
    const rows = Object.values(texts).map((text) => text.replace(/ Until then: (.*)\./, ' | $1'));
    expect(rows.filter((row) => !alarmTable().includes(row))).toEqual([]);
    expect(linked.length).toBeGreaterThan(4);
    expect(linked.filter((link) => !isReached('docs/runbook.md', link))).toEqual([]);
  });

  test('docs/runbook.md has a bad day for each of its sections, with alarms, tests and items that exist', () => {
    const runbook = readFileSync('docs/runbook.md', 'utf8');
    const table = runbook.slice(runbook.indexOf('| What happened |'), runbook.indexOf('### Work that waits'));
    const sections = [...runbook.matchAll(/^##+ (.*)$/gm)].map(([, heading]) => heading);
    const linked = [...table.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor);
    const alarms = [...table.matchAll(/`([a-z…-]+)`/g)].map(([, name = '']) => name.replace('…', ''));
    const [, items = ''] = readFileSync('docs/deploy.md', 'utf8').split('Check the rest once in an account:');
    const tried = [...table.matchAll(/`(tests\/[^`]+)`|AWS (\d+)/g)];

    expect(linked.length).toBe(sections.length - 2);
    expect(new Set(linked).size).toBe(linked.length);
    expect(linked.filter((anchor) => !isReached('docs/runbook.md', `#${anchor}`))).toEqual([]);
    expect(alarms.length).toBeGreaterThan(8);
    expect(alarms.filter((name) => !alarmTable().includes(name))).toEqual([]);
    expect(tried.length).toBeGreaterThan(12);
    for (const [, file, item] of tried)
      expect(file ? existsSync(file) : items.includes(`\n${item}. **`)).toBe(true);
  });

  test('docs/CONTRIBUTING.md has the lanes that npm run configuration writes', () => {
    expect(readFileSync('docs/CONTRIBUTING.md', 'utf8')).toContain(laneTable());
  });

  test('docs/configuration.md is what npm run configuration writes', async () => {
    expect(await configurationDocument()).not.toContain('[object');
    expect(readFileSync('docs/configuration.md', 'utf8')).toBe(await configurationDocument());
  });

  test('docs/reference.md lists the reasons of a version exactly as the schema has them', () => {
    const rows = reference.match(/^\| `[a-z_]+` \| (?:pending|banned|flagged|deleted)\b/gm) ?? [];

    expect(rows.map((row) => row.split('`')[1]).sort()).toEqual([...StatusReasonCode.options].sort());
  });

  test.each(documents)('%s names only scripts, tests, files and headings that exist', (file, text) => {
    const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
    const links = found(/\]\(([^)\s]+)\)/g).filter((link) => !/^\w+:/.test(link));
    const missing = [
      ...found(/npm run (?:--silent )?([\w:-]+)/g).filter((name) => !(name in scripts)),
      ...found(/((?:packages\/[\w-]+\/)?tests\/[\w/-]+\.test\.ts)/g).filter((name) => !existsSync(name)),
      ...links.filter((link) => !isReached(file, link)),
    ];

    expect(missing).toEqual([]);
  });

  /** Whether a link of a document leads to a file, and to a heading of that file if the link names one. */
  function isReached(from: string, link: string): boolean {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? from : join(dirname(from), path);
    if (!existsSync(target) || anchor === undefined) return existsSync(target);
    // As GitHub makes anchors of headings.
    const anchorOf = (heading = '') =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-');
    const headings = [...readFileSync(target, 'utf8').matchAll(/^#+ (.*)$/gm)];
    return headings.some(([, heading]) => anchorOf(heading) === anchor);
  }
});

// Nobody here holds these names in a public registry, and whoever takes one runs code at every reader.
test('runs or installs a package of ours by its file only, in no page, document, message or workflow', () => {
  const files = tree
    .filter((file) =>
      /^(?:docs|functions|infra|lib|packages|tools|\.github)\/|^README\.md$|^serverless\.yml$/.test(file),
    )
    .filter((file) => /\.(?:md|ya?ml|[cm]?[jt]s|html|http|json|toml|sh|py)$/.test(file))
    .filter((file) => !file.includes('/tests/'));
  const names = readdirSync('packages').join('|');
  const start = /\b(?:npx|bunx|(?:npm|pnpm|yarn) (?:i|install|add|exec|dlx))\b[^\n`]*/.source;
  const byName = new RegExp(
    `${start}(?:--package|(?<![./\\w-])(?:@node-registry/)?(?:${names}|node-registry)\\b)`,
  );
  const others = /\buses: (?!actions\/[\w-]+@[0-9a-f]{40}|OWNER\/REPOSITORY\/.*@COMMIT)\S*/;
  const wrong = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return [
      byName.exec(text)?.[0] ?? (/ya?ml$/.test(file) ? others.exec(text)?.[0] : undefined) ?? [],
    ].flat();
  });

  expect(wrong).toEqual([]);
  expect(byName.test('npx --yes publish-node publish')).toBe(true);
  expect(files.length).toBeGreaterThan(300);
});

describe('the lines', () => {
  const rooms = ['lib functions', 'infra', 'tools', 'packages', 'tests'];
  const bases = [14_212, 3525, 12_099, 27_079, 32_784];
  /** Lines of each room that an issue needs beyond its base, or makes room for (below 0). */
  const changes: Record<number, number[]> = {
    // Words, interleavings, `decide` and `may`
    55: [-32, -2, 118, 11, -702],
    // Purchases
    56: [-238, 16, -7, 0, -852],
    // Work: its lanes less the sweeps, alarms
    57: [-2, 125, -1066, -45, -1544],
    // Oracles, the reviewed template, tricks that saved a percent
    58: [-216, -619, 13, 6, -953],
    // Bounds, remembered parameters, releases, the read path
    59: [643, 161, 207, 55, 693],
    // The client, the command, results for clients that wait, the reader of packs
    60: [297, 11, 43, 913, 536],
    // The site and the studio
    61: [171, 60, 646, 1267, 54],
    // Self-service: its routes, commands and page
    62: [2237, 289, -90, 2098, 1038],
    // Ceremony of tests, and two releases side by side
    63: [-11, -108, -57, -493, -1437],
  };
  /** For all rooms at the end of the round. */
  const aim = 83_000;

  const isCounted = (file: string) =>
    /\.(?:ts|tsx|js|mjs|cjs|css|html|yml|yar|py|sh)$/.test(file) &&
    !/generated|openapi\.|recording/.test(file);
  const linesIn = (room: string) =>
    tree
      .filter((file) => room.split(' ').some((folder) => isIn(file, folder)) && isCounted(file))
      .reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);

  test('of each room stay within its budget: replace and delete first, then add to the row of the issue', () => {
    const found = rooms.map((room, place) => {
      const own = Object.values(changes).map((lines) => lines[place] ?? 0);
      return {
        room,
        lines: linesIn(room),
        budget: own.reduce((sum, lines) => sum + lines, bases[place] ?? 0),
      };
    });
    const all = found.reduce((sum, { lines }) => sum + lines, 0);
    const free = found.map(({ room, lines, budget }) => `${room} ${budget - lines}`).join(', ');
    process.stderr.write(`Free lines: ${free}. All: ${all}, aim: ${aim}\n`);

    expect(found.filter(({ lines, budget }) => lines > budget)).toEqual([]);
  });
});

test.each(readdirSync('.github/workflows'))(
  'lets the GitHub workflow %s only read the repository',
  (file) => {
    expect(parse(readFileSync(`.github/workflows/${file}`, 'utf8')).permissions).toEqual({
      contents: 'read',
    });
  },
);

test('runs the gate in the GitHub workflow', () => {
  const { jobs } = parse(readFileSync('.github/workflows/gate.yml', 'utf8'));
  const steps = Object.values<{ steps: { run?: string }[] }>(jobs).flatMap((job) => job.steps);

  expect(steps.map(({ run }) => run).filter(Boolean)).toEqual(['.ci/run']);
  expect(existsSync('.ci/run')).toBe(true);
});

test('package.json gives no license until the owner has chosen one', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8')).license).toBe('UNLICENSED');
});
