import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, parse as parsePath, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { StatusReasonCode } from '@node-registry/registry-rules/schemas/node-version';
import { parse } from 'yaml';
import { fileOf, loadContracts } from '../infra/operations.ts';
import { texts } from '../infra/template/alarm-texts.ts';
import type { Contract } from '../lib/contract.ts';
import { errorCatalog } from '../lib/errors.ts';
import { alarmTable, withAlarmTable } from '../tools/documents/alarms.ts';
import { configurationDocument } from '../tools/documents/configuration.ts';
import { laneTable } from '../tools/documents/lanes.ts';
import { errorsOf } from '../tools/openapi/answers.ts';

/** Keeps functions, events, routes and documents in step with the code. */

const readme = readFileSync('README.md', 'utf8');
const proxyExamples = readFileSync('docs/examples/proxies.http', 'utf8');
const namesIn = (folder: string) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [parsePath(entry.name).name] : [],
  );
const names = namesIn('functions');
const endpoints = namesIn('lib/contracts');
type Template = Record<string, { events: { httpApi?: string }[] }>;
const template: Template = parse(readFileSync('serverless.yml', 'utf8')).functions;
const functions = new Map(Object.entries(template).map(([name, entry]) => [fileOf(name), entry]));
const contracts = await loadContracts();
const contractOf = (file: string) => contracts.find(({ name }) => fileOf(name) === file) as Contract;

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
    .map((file) => join(folder, file));
}

/** The packages of this repository, and the source of each of their public entries. */
const ownPackages = readdirSync('packages').map((folder) => ({
  name: `@node-registry/${folder}`,
  folder: `packages/${folder}`,
  entries: Object.entries<Entry>(
    JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8')).exports,
  ).map(([path, entry]) => [path, typeof entry === 'string' ? entry : entry['in-tree']] as const),
}));
type Entry = string | { 'in-tree': string };

/** The file that a specifier of an own package means; undefined for a package from npm. */
function ownEntry(specifier: string): string | undefined {
  const found = ownPackages.find(({ name }) => `${specifier}/`.startsWith(`${name}/`));
  if (!found) return undefined;
  const rest = specifier.slice(found.name.length + 1);
  const wanted = rest === '' ? '.' : `./${rest}`;
  for (const [path, source] of found.entries) {
    if (path === wanted) return join(found.folder, source);
    if (path === './*') return join(found.folder, source.replace('*', rest));
  }
  return `${found.folder}: no public entry ${wanted}`;
}

/** The project's own files and the packages that a file imports. */
function importsOf(file: string): { own: string[]; packages: string[] } {
  const specifiers = [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(
    ([, name]) => String(name),
  );
  const isOwn = (name: string) => name.startsWith('.') || ownEntry(name) !== undefined;
  return {
    own: specifiers
      .filter(isOwn)
      .map((name) => ownEntry(name) ?? relative('.', join(dirname(file), name)))
      // A text that is made to be bundled has addresses of its own.
      .filter((name) => existsSync(name) || name.includes(': no ')),
    packages: specifiers.filter((name) => !isOwn(name)),
  };
}

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

describe('a function of the service', () => {
  test.each(names)('gives %s its entry in serverless.yml, its sample event and its tests', (name) => {
    expect(functions.has(name)).toBe(true);
    expect(readdirSync('events')).toContain(`${name}.json`);
    const hasRows = readFileSync('tests/contract/proxies.test.ts', 'utf8').includes(`rows('${name}', {`);
    expect(hasRows || readdirSync('tests/functions').includes(`${name}.test.ts`)).toBe(true);
  });

  test('exists for every entry, event and contract', () => {
    expect([...functions.keys()].sort()).toEqual([...names].sort());
    expect(namesIn('events').sort()).toEqual([...names].sort());
    const others =
      'align-registry poll-providers count-downloads deliver-notifications extract-host-nodes finalize-upload ' +
      'hand-over-work receive-notification self-service task-results visit-accounts unknown-route watch-reads write-catalog write-index';
    expect([...endpoints, ...others.split(' ')].sort()).toEqual([...names].sort());
  });

  test.each(endpoints)(
    'gives %s one route, the same in its contract, serverless.yml, its event, the README and the examples',
    (name) => {
      const { name: functionName, method, path } = contractOf(name);
      const routes = functions.get(name)?.events.map(({ httpApi }) => httpApi);

      expect(routes).toEqual([`${method} ${path}`]);
      expect(JSON.parse(readFileSync(`events/${name}.json`, 'utf8')).routeKey).toBe(`${method} ${path}`);
      expect(readme).toContain(`\`${method} ${path}\` | \`${functionName}\``);
      if (path.startsWith('/proxy/')) expect(proxyExamples).toContain(`${method} {{host}}${path}\n`);
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
  tools: 'lib functions infra packages',
};

function isIn(file: string, room: string): boolean {
  return file === room || file.startsWith(`${room}/`);
}

describe('imports', () => {
  const rooms = Object.keys(directions);

  test('follow a direction in every package', () => {
    expect(readdirSync('packages').filter((name) => !rooms.includes(`packages/${name}`))).toEqual([]);
  });

  test('name a package by its public entries only', () => {
    const files = ['functions', 'lib', 'infra', 'packages', 'tools', 'tests'].flatMap(sources);
    const packageOf = (file: string) => /^packages\/[^/]+\//.exec(file)?.[0];
    const wrong = files.flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      const relatives = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, name = '']) =>
        relative('.', join(dirname(file), name)),
      );
      const inside = relatives.filter((target) => packageOf(target) && packageOf(target) !== packageOf(file));
      const unknown = importsOf(file).own.filter((target) => target.includes(': no '));
      return [...inside, ...unknown].map((target) => `${file} imports ${target}`);
    });

    expect(wrong).toEqual([]);
  });

  test('form no circle', () => {
    const state = new Map<string, 'open' | 'done'>();
    const circles: string[] = [];
    const visit = (file: string, path: string[]) => {
      if (state.get(file) === 'open') circles.push([...path.slice(path.indexOf(file)), file].join(' > '));
      if (state.has(file)) return;
      state.set(file, 'open');
      for (const target of importsOf(file).own) visit(target, [...path, file]);
      state.set(file, 'done');
    };
    for (const file of rooms.flatMap((room) => sources(room))) visit(file, []);

    expect(circles).toEqual([]);
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

  test('docs/capacity.md names tests that exist for what a tenant can make large', () => {
    const files = readFileSync('docs/capacity.md', 'utf8').match(/(?<=\| `)tests\/[^`]+/g) ?? [];

    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  test('docs/CONTRIBUTING.md has the lanes that npm run configuration writes', () => {
    expect(readFileSync('docs/CONTRIBUTING.md', 'utf8')).toContain(laneTable());
  });

  test('docs/configuration.md is what npm run configuration writes', async () => {
    expect(await configurationDocument()).not.toContain('[object');
    expect(readFileSync('docs/configuration.md', 'utf8')).toBe(await configurationDocument());
  });

  test('docs/reference.md lists the reasons of a version exactly as the schema has them', () => {
    const rows = reference.match(/^\| `[a-z_]+` \| (?:pending|banned|flagged|deleted) \|/gm) ?? [];

    expect(rows.map((row) => row.split('`')[1]).sort()).toEqual([...StatusReasonCode.options].sort());
  });

  test('README.md names every function', () => {
    expect(Object.keys(template).filter((name) => !new RegExp(`\\b${name}\\b`).test(readme))).toEqual([]);
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
  const folders = ['docs', 'functions', 'infra', 'lib', 'packages', 'tools', '.github'];
  const named = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const files = [...named, 'README.md', 'serverless.yml']
    .filter((file) => /\.(?:md|ya?ml|[cm]?[jt]s|html|http|json|toml|sh|py)$/.test(file))
    .filter((file) => !/\/(?:node_modules|dist|tests)\//.test(file));
  const names = ownPackages.map(({ name }) => name.replace('@node-registry/', '')).join('|');
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
  const bases = { 'lib functions': 14_212, infra: 3525, tools: 12_099, packages: 27_079, tests: 32_784 };
  type Room = keyof typeof bases;
  /** Lines that a commit needs beyond its room's, granted by its issue, or makes room for (below 0): a row below its issue. */
  const changes: { issue: number; room: Room; lines: number }[] = [
    // 55
    // decide, and may with its crossing
    { issue: 55, room: 'lib functions', lines: 304 },
    { issue: 55, room: 'tools', lines: 33 },
    { issue: 55, room: 'tests', lines: 250 },
    // Interleavings, less what they replace.
    { issue: 55, room: 'tests', lines: 90 },
    // Lent by tests.
    { issue: 55, room: 'packages', lines: 10 },
    { issue: 55, room: 'tools', lines: 3 },
    // Faults of the store: no interleaving throttles, or answers garbage.
    { issue: 55, room: 'tests', lines: 174 },
    // the compression of one operation
    { issue: 55, room: 'lib functions', lines: -10 },
    // an actor that is passed in
    { issue: 55, room: 'tools', lines: 53 },
    { issue: 55, room: 'tests', lines: 12 },
    // what one operation needs: marks in schemas, and the label as sent
    { issue: 55, room: 'lib functions', lines: 49 },
    { issue: 55, room: 'packages', lines: 6 },
    { issue: 55, room: 'tools', lines: 30 },
    { issue: 55, room: 'tests', lines: 40 },
    // 56
    // usage conclude: lent by lib, whose purchases are shorter, and by tests.
    { issue: 56, room: 'tools', lines: 126 },
    { issue: 56, room: 'lib functions', lines: -113 },
    { issue: 56, room: 'tests', lines: -13 },
    // What a reader of the room found; the tests of a purchase that a line budget had taken, and odd replies.
    { issue: 56, room: 'lib functions', lines: 8 },
    { issue: 56, room: 'tools', lines: 6 },
    { issue: 56, room: 'tests', lines: 190 },
    // A block of the registry.
    { issue: 56, room: 'lib functions', lines: 26 },
    { issue: 56, room: 'tools', lines: 9 },
    { issue: 56, room: 'tests', lines: 26 },
    // A budget of the stage.
    { issue: 56, room: 'lib functions', lines: 79 },
    { issue: 56, room: 'infra', lines: 4 },
    { issue: 56, room: 'tests', lines: 72 },
    // Roles of notifications, reservations given back, conclude's history.
    { issue: 56, room: 'lib functions', lines: 9 },
    { issue: 56, room: 'infra', lines: 12 },
    { issue: 56, room: 'tools', lines: 14 },
    { issue: 56, room: 'tests', lines: 21 },
    // Instants of a 429, a key after a 503, credits as JSON writes numbers.
    { issue: 56, room: 'lib functions', lines: 22 },
    { issue: 56, room: 'tests', lines: 20 },
    // 57
    // The engine beside the sweeps that it replaces, until the last lane is on it.
    { issue: 57, room: 'lib functions', lines: 60 },
    { issue: 57, room: 'tools', lines: 99 },
    { issue: 57, room: 'tests', lines: 75 },
    { issue: 57, room: 'infra', lines: 30 },
    // Uploads and extractions as lanes: the sweeps, due lists, claims and their dead letters are gone.
    { issue: 57, room: 'lib functions', lines: -340 },
    { issue: 57, room: 'tools', lines: -60 },
    { issue: 57, room: 'tests', lines: -800 },
    // Alarms in two levels, each with its bad day, and a composite.
    { issue: 57, room: 'infra', lines: 125 },
    { issue: 57, room: 'tools', lines: 40 },
    { issue: 57, room: 'tests', lines: 170 },
    // The lane align: verbs of bans and moves, which were the administration's.
    { issue: 57, room: 'lib functions', lines: 530 },
    { issue: 57, room: 'tools', lines: -690 },
    { issue: 57, room: 'tests', lines: 40 },
    { issue: 57, room: 'infra', lines: 70 },
    // 58
    // The reviewed template, and the rules that only repeat it.
    { issue: 58, room: 'tests', lines: -255 },
    { issue: 58, room: 'tools', lines: 55 },
    // Objects without a spread that only pleased the formatter.
    { issue: 58, room: 'lib functions', lines: 26 },
    { issue: 58, room: 'infra', lines: 20 },
    { issue: 58, room: 'tools', lines: 85 },
    { issue: 58, room: 'packages', lines: 12 },
    { issue: 58, room: 'tests', lines: -36 },
    // Oracles, and the width of a character.
    { issue: 58, room: 'tests', lines: 36 },
    { issue: 58, room: 'packages', lines: 12 },
    // Tricks that saved a percent.
    { issue: 58, room: 'lib functions', lines: -125 },
    { issue: 58, room: 'tests', lines: -30 },
    { issue: 58, room: 'packages', lines: -18 },
    // What functions share, said once: serverless.yml has 75 lines less.
    { issue: 58, room: 'infra', lines: 12 },
    // 59
    // Ignored fields, creations, too large host nodes, bounds of versions and of what people write, events of CI.
    { issue: 59, room: 'lib functions', lines: 260 },
    { issue: 59, room: 'tools', lines: 110 },
    { issue: 59, room: 'packages', lines: 15 },
    { issue: 59, room: 'tests', lines: 216 },
    // Remembered parameters, releases, the read path, bans of many, adoption.
    { issue: 59, room: 'lib functions', lines: 153 },
    { issue: 59, room: 'infra', lines: 80 },
    { issue: 59, room: 'tools', lines: 213 },
    { issue: 59, room: 'tests', lines: 324 },
    { issue: 59, room: 'packages', lines: 40 },
    // A rollback's parameters, the role for people, bad days.
    { issue: 59, room: 'infra', lines: 85 },
    { issue: 59, room: 'tests', lines: 70 },
    // A full node, versions page by page, and a slow node's own time.
    { issue: 59, room: 'lib functions', lines: 65 },
    { issue: 59, room: 'tests', lines: 92 },
    // 60
    { issue: 60, room: 'packages', lines: 513 },
    // Lent by packages.
    { issue: 60, room: 'infra', lines: 11 },
    { issue: 60, room: 'tests', lines: 157 },
    // the client: entries, and sentences for people
    { issue: 60, room: 'packages', lines: 178 },
    { issue: 60, room: 'tests', lines: 28 },
    // its cookbook, of which packages lend 60
    { issue: 60, room: 'tests', lines: 140 },
    { issue: 60, room: 'tools', lines: 3 },
    { issue: 60, room: 'lib functions', lines: 2 },
    // a version withdrawn, restored, dropped
    { issue: 60, room: 'lib functions', lines: 153 },
    { issue: 60, room: 'tools', lines: 49 },
    { issue: 60, room: 'packages', lines: 53 },
    { issue: 60, room: 'tests', lines: 134 },
    // a kept differ in place of ours, which lends to two rooms
    { issue: 60, room: 'tools', lines: -80 },
    { issue: 60, room: 'tests', lines: 21 },
    { issue: 60, room: 'lib functions', lines: 11 },
    // results for clients that wait
    { issue: 60, room: 'lib functions', lines: 131 },
    { issue: 60, room: 'tools', lines: 59 },
    { issue: 60, room: 'tests', lines: 140 },
    // the reader of packs
    { issue: 60, room: 'packages', lines: 880 },
    // client code of self-service in the reference, and what is pending
    { issue: 60, room: 'tools', lines: 12 },
    { issue: 60, room: 'tests', lines: 30 },
    // by publish-node and the client, and submodules in a copy
    { issue: 60, room: 'packages', lines: 140 },
    { issue: 60, room: 'tests', lines: 36 },
    // 61
    // The site. Those of lib and infra are lent by packages.
    { issue: 61, room: 'lib functions', lines: 160 },
    { issue: 61, room: 'infra', lines: 60 },
    { issue: 61, room: 'tools', lines: 74 },
    { issue: 61, room: 'packages', lines: 1280 },
    { issue: 61, room: 'tests', lines: 22 },
    { issue: 61, room: 'packages', lines: 4 },
    // The studio, in place of the home page and the example of a film.
    { issue: 61, room: 'tools', lines: 1232 },
    { issue: 61, room: 'packages', lines: 14 },
    { issue: 61, room: 'tests', lines: 9 },
    // Twelve example nodes; small pictures within their URLs.
    { issue: 61, room: 'tools', lines: 168 },
    { issue: 61, room: 'packages', lines: 15 },
    { issue: 61, room: 'tests', lines: 21 },
    // The reference, shorter, with a console.
    { issue: 61, room: 'tools', lines: -39 },
    { issue: 61, room: 'tests', lines: 21 },
    { issue: 61, room: 'packages', lines: 6 },
    // Searches find the words of translations.
    { issue: 61, room: 'lib functions', lines: 11 },
    // 62
    // Self-service: contracts, verbs that were the administration's, routes; the client.
    { issue: 62, room: 'lib functions', lines: 2346 },
    { issue: 62, room: 'infra', lines: 125 },
    // The page for accounts of a deployed stage.
    { issue: 62, room: 'infra', lines: 165 },
    { issue: 62, room: 'tests', lines: 115 },
    // Interleavings of what people do.
    { issue: 62, room: 'tests', lines: 230 },
    // What an attack of an hour found.
    { issue: 62, room: 'lib functions', lines: 95 },
    { issue: 62, room: 'tests', lines: 170 },
    { issue: 62, room: 'tools', lines: 16 },
    { issue: 62, room: 'packages', lines: 40 },
    { issue: 62, room: 'tools', lines: -140 },
    { issue: 62, room: 'packages', lines: 208 },
    { issue: 62, room: 'tests', lines: 397 },
    // The command's verbs, the page, and the issuer that signs people in.
    { issue: 62, room: 'tools', lines: 300 },
    { issue: 62, room: 'packages', lines: 1835 },
    { issue: 62, room: 'tests', lines: 260 },
    // 63
    // Ceremony of tests, class by class: what went is noticed by what stays.
    { issue: 63, room: 'tools', lines: -2 },
    { issue: 63, room: 'packages', lines: -127 },
    { issue: 63, room: 'tests', lines: -542 },
  ];
  /** For all rooms at the end of the round. */
  const aim = 83_000;

  const isCounted = (file: string) =>
    /\.(?:ts|tsx|js|mjs|cjs|css|html|yml|yar|py|sh)$/.test(file) &&
    !/generated|openapi\.|recording/.test(file) &&
    existsSync(file);
  const linesIn = (room: string) =>
    execFileSync('git', ['ls-files', '-z', ...room.split(' ')], { encoding: 'utf8' })
      .split('\0')
      .filter(isCounted)
      .reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);

  test('of each room stay within its budget', () => {
    const rooms = Object.entries(bases).map(([room, base]) => {
      const own = changes.filter((change) => change.room === room);
      return { room, lines: linesIn(room), budget: own.reduce((sum, { lines }) => sum + lines, base) };
    });
    const all = rooms.reduce((sum, { lines }) => sum + lines, 0);
    const free = rooms.map(({ room, lines, budget }) => `${room} ${budget - lines}`).join(', ');
    process.stderr.write(`Free lines: ${free}. All: ${all}, aim: ${aim}\n`);

    expect(rooms.filter(({ lines, budget }) => lines > budget)).toEqual([]);
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
