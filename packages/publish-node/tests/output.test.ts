import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RegistryError } from '@node-registry/registry-client';
import { folder } from '@node-registry/testing/folders';
import { fc } from '@node-registry/testing/properties';
import { publishNode } from '@node-registry/testing/publish-node';
import { writeFiles } from '@node-registry/testing/shell';
import { failureOf, shown } from '../failure.ts';
import { leaveStep } from '../github-step.ts';
import { end, reportOf, say, writeTo } from '../output.ts';
import { printableJson } from '../printable.ts';

/** What the registry answers, one request after the other. */
const replies: { status: number; headers?: Record<string, string>; body?: object }[] = [];
const registry = createServer((_, response) => {
  const { status, headers, body } = replies.shift() ?? { status: 500 };
  response.writeHead(status, { 'x-request-id': 'r', ...headers }).end(JSON.stringify(body));
});

beforeAll(async () => {
  await once(registry.listen(0, 'localhost'), 'listening');
});

afterAll(() => {
  registry.close();
});

let written = '';

beforeEach(() => {
  written = '';
  const stream = { write: (text: string) => (written += text) };
  writeTo({ stdout: stream, stderr: stream });
});

afterEach(() => writeTo(process));

/** What a runner of GitHub takes for a command of its own. */
const isCommand = (line: string) => line.trim().startsWith('::') || /##\w*\[/.test(line);
const deceives = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/u;

const hostile = [
  '::add-mask::x',
  ' \t ::error::x',
  '\u00A0\u2003::error::x',
  '\u200B::error::x',
  'x ##[add-path]/tmp/evil',
  'x ##VSO[task.setvariable]y',
  "x ##teamcity[setParameter name='env.PATH']",
  'x\n::set-output name=a::b',
  'x\r::error::b',
  'x\u2028::error::b',
  '\u001B[31mred\u001B[2K\u001B[1A',
  '\u001B]0;evil\u0007',
  '\u009B31m',
  ...['a\u202Etxt.py', '\u2066a\u2069', 'a\ud83d', 'a\u{E0041}'],
];

describe('a text from someone else', () => {
  test('is one harmless line, without commands and deceiving characters, and keeps its meaning in JSON', () => {
    const part = fc.oneof(fc.constantFrom(':', '#', '[', ' ', '\n', '\u200B'), fc.string({ unit: 'binary' }));
    const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (value) => {
        written = '';
        say(value);
        const json = printableJson(JSON.stringify([value.toWellFormed()], null, 2));

        expect(written.split('\n')).toHaveLength(2);
        expect(isCommand(written.trimEnd())).toBe(false);
        expect(json.split('\n').some(isCommand)).toBe(false);
        expect([written, json].filter((each) => deceives.test(each))).toEqual([]);
        expect(JSON.parse(json)).toEqual([value.toWellFormed()]);
      }),
      { numRuns: 2000, examples: hostile.map((text): [string] => [text]) },
    );
  });
});

test('an unexpected fault is thrown to the end, and is harmless in the JSON report', async () => {
  await expect(end(true, () => Promise.reject(new Error('x\n::error::y\u202E')))).rejects.toThrow('x');

  const report = { error: 'internal_error', status: 'failed', host_nodes: null };
  expect(JSON.parse(written)).toMatchObject(report);
  expect(written).not.toMatch(deceives);
});

describe('an error of the registry', () => {
  test.each([
    [2, 'redirected route_not_found:404 method_not_allowed:405 invalid_reply:404 invalid_reply:405'],
    [3, 'forbidden:403 invalid_request wrong_digest version_closed'],
    [4, 'archive_rejected'],
    [5, 'unreachable timed_out upload_failed still_checking too_many_requests:429 internal_error:500'],
    // Of another server.
    [5, 'invalid_reply:200'],
  ])('ends with exit code %i, and all that is said, after %j', (exitCode, errors) => {
    const details = Array.from({ length: 21 }, (_, at) => ({ path: `field${at}`, message: 'is wrong' }));
    for (const error of errors.split(' ')) {
      const [code = '', named] = error.split(':');
      const status = named === undefined ? undefined : Number(named);
      const failure = failureOf(new RegistryError(code, 'Why.', { status, details, requestId: 'r-1' }));

      expect(failure).toMatchObject({ exitCode, code, problems: details });
      expect(shown(failure).slice(1)).toEqual([
        ...details.slice(0, 20).map(({ path }) => `  ${path}: is wrong`),
        ...['  and 1 more', '  request r-1'],
      ]);
    }
  });

  test('names a repetition and another address if the registry did not answer', () => {
    const { message } = failureOf(new RegistryError('unreachable', 'Why.'));

    expect(message).toBe('Why. Run it again, or name another: --base-url, or NODE_REGISTRY_URL.');
  });

  const waits = {
    0.4: '1 seconds',
    99: '99 seconds',
    100: '2 minutes',
    5940: '99 minutes',
    5941: '2 hours',
    356400: '99 hours',
    356401: 'over 4 days',
    Infinity: 'over 4 days',
  };

  test.each(Object.entries(waits))('says when it can work again, in %s seconds', (retryAfter, wait) => {
    const facts = { status: 503, retryAfter: Number(retryAfter) };
    const { message } = failureOf(new RegistryError('unavailable', 'Why.', facts));

    expect(message).toBe(`Why. It can work again in ${wait}.`);
  });
});

describe('text from a folder or a server', () => {
  const evil = 'x\n::add-path::/tmp/evil\u202E\u001B[2J ##[add-path]y';

  const check = (text: string) => {
    expect(text.split('\n').filter(isCommand)).toEqual([]);
    expect(text).not.toMatch(deceives);
  };

  test.each([[[]], [['--json']]])('prints harmless plans and mistakes, with %j', async (flags) => {
    const name = JSON.stringify(evil);
    await writeFiles(folder, {
      'pyproject.toml': `[project]\nname = "x"\nversion = "1.0.0"\ndescription = ${name}\n[project.urls]\nRepository = ${name}\n`,
      '__init__.py': `NODE_CLASS_MAPPINGS = {${name}: type("A", (), {"FUNCTION": ${name}})}`,
    });
    const plan = await publishNode(['publish', folder, '--dry-run', '--publisher', 'demo', ...flags]);
    const wrong = await publishNode(['publish', folder, '--publisher', evil, '--node', evil, ...flags]);
    const unknown = await publishNode(['publish', folder, `--x${evil}`, ...flags]);
    const misspelled = await publishNode([evil, ...flags]);
    await writeFiles(folder, { '::error::x.py': '', 'evil\u202E.py': '', 'a\nb.py': '' });
    const rejected = await publishNode(['publish', folder, '--dry-run', '--publisher', 'demo', ...flags]);

    expect([plan, wrong, unknown, misspelled, rejected].map(({ code }) => code)).toEqual([0, 2, 2, 2, 2]);
    for (const { stdout, stderr } of [plan, wrong, unknown, misspelled, rejected]) check(stdout + stderr);
  });

  test.each([[[]], [['--json']]])('prints harmless answers of a registry, with %j', async (flags) => {
    const fields = 'downloadUrl sha256 status_reason host_node_extract_status host_node_extract_reason'.split(
      ' ',
    );
    const version = {
      status: 'NodeVersionStatusActive',
      ...Object.fromEntries(fields.map((name) => [name, evil])),
    };
    const identifier = { node_id: 'x', version: '1.0.0' };
    replies.push(
      { status: 200, body: { node_versions: [{ identifier, status: 'success', node_version: version }] } },
      { status: 200, body: { node_versions: [{ identifier, status: 'error', error_message: evil }] } },
      { status: 403, body: { error: evil, message: evil, details: [{ path: evil, message: evil }] } },
      { status: 302, headers: { location: 'http://x/::error::%0a' } },
    );
    const url = `http://localhost:${(registry.address() as AddressInfo).port}`;
    const args = ['status', '--node', 'x', '--version', '1.0.0', '--base-url', url];
    while (replies.length > 0) {
      const { stdout, stderr } = await publishNode([...args, ...flags]);
      check(stdout + stderr);
      expect(stdout + stderr).not.toBe('');
    }
  });
});

describe('a step of GitHub Actions', () => {
  async function leave(report: Parameters<typeof reportOf>[0]) {
    const [GITHUB_OUTPUT, GITHUB_STEP_SUMMARY] = [join(folder, 'output'), join(folder, 'summary')];
    await Promise.all([GITHUB_OUTPUT, GITHUB_STEP_SUMMARY].map((file) => writeFile(file, 'before=1\n')));
    await leaveStep(reportOf(report), { GITHUB_OUTPUT, GITHUB_STEP_SUMMARY });
    const [outputs, summary] = await Promise.all(
      [GITHUB_OUTPUT, GITHUB_STEP_SUMMARY].map((file) => readFile(file, 'utf8')),
    );
    return { outputs, summary };
  }

  test('gets no output and no markup that a server or a pack wrote', async () => {
    const evil = 'x\nversion=9.9.9\n| <img src=x onerror=1> | `a` [b](javascript:1)\r\n::error::';
    const { outputs, summary } = await leave({
      status: 'published',
      version: evil,
      download_url: evil,
      node: evil,
      sha256: 'ab',
      files: [1, 2],
      host_nodes: [1],
      left_out: [{ files: 2 }, { files: 1 }],
      notes: [evil],
    });

    // A sign of the shell would command a script that an output is put into.
    expect(outputs).toBe('before=1\nversion=\nstatus=published\ndownload-url=\nsha256=ab\n');
    expect(summary).toContain('| files | 2 |\n| left out by rules | 3 |\n| host nodes | 1 |\n');
    expect(summary).toMatch(/^- <code>x version=9\.9\.9 .*<\/code>$/m);
    expect(written).toBe('');
    expect(summary).not.toContain('<img');
    expect(
      summary?.split('\n').filter((line) => line.startsWith('| x') || line.startsWith('version')),
    ).toEqual([]);
  });

  test('gets one annotation of the failure, which ends where the runner expects it', async () => {
    const { summary } = await leave({
      error: 'usage',
      message: 'Not right: 100%\n::set-env name=A::b',
      details: Array(21).fill({ path: 'a\n::error::b', message: 'is wrong.' }),
    });

    expect(written).toBe(
      `::error title=publish-node::Not right: 100%25 ::set-env name=A::b${'%0Aa ::error::b: is wrong.'.repeat(20)}\n`,
    );
    expect(summary).toContain('<code>Not right: 100% ::set-env name=A::b</code>');
  });
});
