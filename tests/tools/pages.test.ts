import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPages } from '../../tools/local/pages.ts';
import { type Simulators, startSimulators } from '../../tools/simulators/start-simulators.ts';

let simulators: Simulators;
let pages: Awaited<ReturnType<typeof startPages>>;

beforeAll(async () => {
  simulators = await startSimulators();
  const parts = { 'HTTP API': 'http://127.0.0.1:1', 'Provider simulators': simulators.url };
  pages = await startPages({
    port: 0,
    parts,
    ownerToken: 'owner-token</script>',
    requests: { latest: () => [] },
  });
});

afterAll(() => Promise.all([pages.stop(), simulators.stop()]));

/** With a Host header of any kind, which fetch does not send. */
function ask(method: string, path: string, { body = '', host = 'localhost' } = {}) {
  return new Promise<{ status: number; type: string; location: string; body: string }>((resolve, reject) => {
    const outgoing = request(`${pages.url}${path}`, { method, headers: { host } }, async (answer) => {
      const { 'content-type': type = '', location = '' } = answer.headers;
      resolve({ status: answer.statusCode ?? 0, type, location, body: await text(answer) });
    });
    outgoing.on('error', reject).end(body);
  });
}

describe('the local pages', () => {
  test.each([
    ['/', 'text/html; charset=utf-8'],
    ['/home.css', 'text/css; charset=utf-8'],
    ['/home.js', 'text/javascript; charset=utf-8'],
    ['/openapi.json', 'application/json'],
    ['/state', 'application/json'],
    ['/reference/', 'text/html; charset=utf-8'],
    ['/reference/openapi.json', 'application/json'],
    ['/reference/js/scalar.js', 'text/javascript; charset=utf-8'],
  ])('serve %s as %s', async (path, type) => {
    const answer = await ask('GET', path);

    expect(answer).toMatchObject({ status: 200, type });
    expect(answer.body.length).toBeGreaterThan(100);
  });

  test('keep the token of the reference page inside its script', async () => {
    const { body } = await ask('GET', '/reference/');

    expect(body).toContain('<html lang="en">');
    expect(body).toContain('"token":"owner-token\\u003c/script>"');
  });

  test('report which parts of the stack listen', async () => {
    const { parts, simulators: record } = JSON.parse((await ask('GET', '/state')).body);

    expect(parts.map(({ isUp }: { isUp: boolean }) => isUp)).toEqual([false, true]);
    expect(record).toMatchObject({ received: [] });
  });

  test('pass commands on to the simulators', async () => {
    const body = JSON.stringify({ credits: 7 });
    const answer = await ask('POST', '/simulators/credits', { body });

    expect(answer.status).toBe(200);
    expect(simulators.simulation.credits).toBe(7);
  });

  test.each([
    ['POST', '/callbacks', 204],
    ['GET', '/reference', 301],
    ['GET', '/nowhere', 404],
    ['POST', '/', 404],
    ['GET', '/simulators/record', 404],
  ])('answer %s %s with %i', async (method, path, status) => {
    const answer = await ask(method, path);

    expect([answer.status, answer.location]).toEqual([status, status === 301 ? '/reference/' : '']);
  });

  test.each(['localhost:3004', '127.0.0.1', '[::1]:3004'])('answer the local name %s', async (host) => {
    expect((await ask('GET', '/state', { host })).status).toBe(200);
  });

  test.each(['pages.example.com', 'localhost.example.com:3004'])(
    'reject the foreign name %s, which could read the token',
    async (host) => {
      const { status, body } = await ask('GET', '/state', { host });

      expect([status, body]).toEqual([421, '']);
    },
  );
});
