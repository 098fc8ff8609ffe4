import { spawn } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityProblems, inBrowser, openPage } from '@node-registry/testing/browser';
import { directory } from '@node-registry/testing/folders';
import { packedProgram } from '@node-registry/testing/publish-node';
import { plainEnvironment, runFile, writeFiles } from '@node-registry/testing/shell';
import { until } from '@node-registry/testing/until';
import { relay, startReverseProxy } from '../../tools/local/reverse-proxy.ts';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { untilEnd } from '../support/serve.ts';
import '../support/in-order.ts';

jest.setTimeout(120_000);

let stack: LocalStack;

beforeAll(async () => {
  stack = await startLocalStack();
  await writeFiles(directory, { 'my-pack/node.py': 'NODE_CLASS_MAPPINGS = {}\n' });
});
afterAll(() => stack?.stop());

/** A person's own machine: what they are signed in as is kept apart from others'. */
function machineOf(name: string, apiUrl = stack.apiUrl) {
  const own = { NODE_REGISTRY_URL: apiUrl, XDG_CONFIG_HOME: join(directory, name) };
  const env = { ...plainEnvironment, ...own };
  const cwd = join(directory, 'my-pack');
  const run = (...args: string[]) => runFile(process.execPath, [packedProgram(), ...args], { cwd, env });
  const start = (...args: string[]) => spawn(process.execPath, [packedProgram(), ...args], { cwd, env });
  return {
    ...{ run, start },
    report: async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout),
    session: async () => {
      const [file = ''] = await readdir(join(directory, name, 'publish-node'));
      return join(directory, name, 'publish-node', file);
    },
    /** Starts to sign in, and waits for the address to open. */
    async login(...args: string[]) {
      const child = start('login', ...args);
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      let shown = '';
      child.stderr.on('data', (part) => (shown += part));
      const stdout = text(child.stdout);
      await until(() => /http:\S+/.test(shown));
      const [address = ''] = /http:\S+/.exec(shown) ?? [];
      return { address: new URL(address), shown, ended, stdout };
    },
  };
}

/** What the browser sends when a person has chosen who they are. */
function choose(address: URL, person: Record<string, string>): Promise<Response> {
  const body = new URLSearchParams([...address.searchParams, ...Object.entries(person)]);
  return fetch(address.origin + address.pathname, { method: 'POST', body, redirect: 'manual' });
}

describe('publish-node login', () => {
  test('leads from nothing to a published node, with a token of its own that ends with the run', async () => {
    const alice = machineOf('alice');
    const { address, ended, stdout } = await alice.login();
    const chosen = await choose(address, { user: 'alice', email: 'alice@example.com' });
    const back = new URL(String(chosen.headers.get('location')));
    const forged = new URL(back);
    forged.searchParams.set('state', 'of-another-page');
    expect((await fetch(forged)).status).toBe(404);
    // Any page can make a browser send this.
    expect((await fetch(`${back.origin}//[`)).status).toBe(404);
    expect(await (await fetch(back)).text()).toContain('You are signed in');
    expect([await ended, await stdout]).toEqual([0, expect.stringContaining('signed in as alice')]);
    expect((await stat(await alice.session())).mode & 0o777).toBe(0o600);

    const begun = await alice.run('init', '--publisher', 'alice-labs');
    const made = await alice.run('publisher', 'create', 'alice-labs');
    const published = await alice.report('publish');
    const who = await alice.report('whoami');

    expect(begun.stdout).toContain('Make it: publish-node publisher create alice-labs');
    expect(made.code).toBe(0);
    expect([published.status, published.version]).toEqual(['published', '1.0.0']);
    expect([who.user.email, who.publishers.map(({ id }: { id: string }) => id), who.tokens]).toEqual([
      ...['alice@example.com', ['alice-labs']],
      [],
    ]);
  });

  test('signs in by a code on another device, accepts an invitation, and loses all with the membership', async () => {
    const [alice, bob] = [machineOf('alice'), machineOf('bob')];
    const { address, ended, shown } = await bob.login('--device');
    expect(shown).toContain(String(address.searchParams.get('user_code')));
    expect((await choose(address, { user: 'bob', user_code: 'WRONG' })).status).toBe(200);
    await choose(address, { user: 'bob' });
    expect(await ended).toBe(0);

    const { invitation, invitations } = await alice.report('member', 'invite');
    const page = `${stack.accountUrl}/account/`;
    expect(await (await fetch(`${stack.apiUrl}/users/sign-in`)).json()).toMatchObject({ account_url: page });
    expect(invitations[0].link).toBe(`${page}#invitation=${encodeURIComponent(invitation)}`);
    const accepted = await bob.report('member', 'accept', invitations[0].link);
    const again = await bob.run('member', 'accept', invitation);
    const token = (await bob.run('token', 'create', 'bob’s laptop')).stdout.trim();
    const rotated = (await bob.run('token', 'rotate', 'bob’s laptop')).stdout.trim();
    const reusable = 'octo/shared/.github/workflows/publish.yml@refs/tags/v1';
    const jobs = ['group/nodes', '--issuer', 'gitlab', '--workflow', '.gitlab-ci.yml'];
    const { trusts } = await alice.report('trust', 'add', ...jobs, '--job-workflow', reusable);
    const members = await alice.report('member', 'list');
    const [, { id }] = members.members;
    const removed = await alice.run('member', 'remove', id);

    expect(trusts).toMatchObject([{ issuer: 'https://gitlab.com', job_workflow: reusable }]);
    expect([accepted.publisher, again.code]).toEqual(['alice-labs', 3]);
    expect(rotated).not.toBe(token);
    expect(removed.stdout).toContain('Ended with that: 1 tokens, 0 trusts.');
    expect((await bob.report('whoami')).publishers).toEqual([]);
    expect((await alice.run('member', 'remove', members.members[0].id)).code).toBe(3);
  });

  test('ends the token of a publish that is interrupted', async () => {
    const sent = Promise.withResolvers<void>();
    // A registry that does not answer a publish.
    const proxy = untilEnd(
      await startReverseProxy(stack.apiUrl, async (request, response, origin) => {
        if (request.url?.endsWith('/versions')) return sent.resolve();
        relay(await origin.send(request), response);
      }),
    );
    const alice = machineOf('alice at work', proxy.url);
    const { address, ended } = await alice.login();
    const chosen = await choose(address, { user: 'alice' });
    await fetch(String(chosen.headers.get('location')));
    await ended;
    const publish = alice.start('publish');
    const code = new Promise((resolve) => publish.once('exit', resolve));
    await sent.promise;
    const during = await alice.report('token', 'list');
    publish.kill('SIGINT');

    expect(await code).toBe(130);
    expect([during.tokens.length, (await alice.report('token', 'list')).tokens]).toEqual([1, []]);
  });

  test('renews a session that ends, and says so once it is over', async () => {
    const alice = machineOf('alice');
    const file = await alice.session();
    const before = JSON.parse(await readFile(file, 'utf8'));
    const ended = { ...before.tokens, accessToken: 'ended', expiresAt: new Date(0).toISOString() };
    await writeFile(file, JSON.stringify({ ...before, tokens: ended }));
    expect((await alice.run('whoami')).code).toBe(0);
    expect(JSON.parse(await readFile(file, 'utf8')).tokens.refreshToken).not.toBe(before.tokens.refreshToken);

    // A refresh token works once.
    await writeFile(file, JSON.stringify({ ...before, tokens: ended }));
    const over = await alice.run('whoami');
    expect([over.code, over.stderr]).toEqual([3, expect.stringContaining('publish-node login')]);
    expect((await alice.run('logout')).code).toBe(0);
    expect((await alice.run('publish')).stderr).toContain('Sign in with publish-node login');
  });
});

test('the local issuer takes a code once, from who began, and sends nobody to a foreign address', async () => {
  const { address, ended } = await machineOf('carol').login();
  const redirect_uri = String(address.searchParams.get('redirect_uri'));
  const code = new URL(
    String((await choose(address, { user: 'carol' })).headers.get('location')),
  ).searchParams.get('code');
  const exchange = async (code_verifier: string) => {
    const form = { grant_type: 'authorization_code', client_id: 'local', code: String(code), redirect_uri };
    const body = new URLSearchParams({ ...form, code_verifier });
    return (await fetch(`${address.origin}/token`, { method: 'POST', body })).json();
  };
  expect(await exchange('stolen')).toEqual({ error: 'invalid_grant' });
  const foreign = new URL(address);
  foreign.searchParams.set('redirect_uri', 'https://evil.example/callback');
  expect((await fetch(foreign, { redirect: 'manual' })).status).toBe(400);
  const plain = new URL(address);
  plain.searchParams.set('code_challenge_method', 'plain');
  const denied = await fetch(plain, { redirect: 'manual' });
  expect(denied.headers.get('location')).toContain('error=invalid_request');
  await fetch(String(denied.headers.get('location')));
  expect(await ended).toBe(3);
});

inBrowser('the page for accounts', () => {
  /** The page as a person sees it who is signed in, on a phone. */
  async function signedInAs(user: string, fragment = '') {
    const { page, problems } = await openPage(360);
    page.on('dialog', (dialog) => dialog.accept());
    await page.goto(`${stack.accountUrl}/account/${fragment}`);
    await press(page, 'Sign in');
    await page.locator('form').nth(1).getByLabel('User').fill(user);
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Account' }).waitFor();
    return { page, problems };
  }

  /** As by a keyboard: what has no focus, or is not seen, cannot be pressed. */
  async function press(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name, exact: true }).first().focus();
    await page.keyboard.press('Enter');
  }

  async function open(page: Page, text: string): Promise<void> {
    await page.getByText(text, { exact: true }).focus();
    await page.keyboard.press('Enter');
  }

  test('leads from nothing to two members and one again, on a phone and by keyboard', async () => {
    const { page, problems } = await signedInAs('dora');
    await page.getByLabel('ID').fill('dora-labs');
    await page.getByLabel('Name', { exact: true }).fill('Dora Labs');
    await press(page, 'Make it');
    await page.getByRole('heading', { name: 'Dora Labs' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await accessibilityProblems(page)).toEqual([]);
    }
    await open(page, 'Make a token');
    await page.getByLabel('What it is for').fill('a script');
    await press(page, 'Make it');
    await page.getByText('nrp_').waitFor();
    await press(page, 'Done');
    expect(await page.getByText('nrp_').count()).toBe(0);
    await open(page, 'Invite somebody');
    await press(page, 'Make a link');
    const link = await page.locator('pre', { hasText: '#invitation=' }).textContent();

    const requested: string[] = [];
    const emil = await signedInAs('emil', `#${link?.split('#')[1]}`);
    await emil.page.getByText('You are invited to the publisher dora-labs.').waitFor();
    emil.page.on('request', (request) => requested.push(request.url()));
    await press(emil.page, 'Accept');
    await emil.page.getByRole('heading', { name: 'Dora Labs' }).waitFor();
    expect(requested.filter((url) => url.includes('nri_'))).toEqual([]);

    await page.reload();
    // Tokens are in memory, so a reload signs out.
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    const lost = await signedInAs('dora', '#/publishers/%');
    await lost.page.getByText('The request is not valid.').first().waitFor();
    const again = await signedInAs('dora', '#/publishers/dora-labs');
    await press(again.page, 'Remove');
    await again.page.getByText('Ended with it: 0 tokens, 0 trusts.').waitFor();
    await again.page.getByRole('link', { name: 'Spending' }).click();
    await again.page.getByRole('heading', { name: 'Spending' }).waitFor();
    expect(await accessibilityProblems(again.page)).toEqual([]);
    await again.page.getByRole('link', { name: 'Publishers' }).click();
    await again.page.getByRole('heading', { name: 'Dora Labs' }).waitFor();
    expect(await accessibilityProblems(again.page)).toEqual([]);
    expect([problems, emil.problems, again.problems]).toEqual([[], [], []]);
  });

  test('is in no frame, runs no foreign script, and serves nothing that a publisher wrote', async () => {
    const { headers } = await fetch(`${stack.accountUrl}/account/`);
    const policy = headers.get('content-security-policy');
    for (const rule of ["script-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"])
      expect(policy).toContain(rule);
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    for (const path of ['/nodes/my-pack', '/index/v1/nodes/my-pack.json', '/search'])
      expect((await fetch(stack.accountUrl + path)).status).toBe(404);
  });
});
