import { describe, expect, test } from '@jest/globals';
import { startPages } from '../../tools/local/pages.ts';
import { untilEnd } from '../support/serve.ts';

const rejected = {
  ...{ at: '2026-11-24T12:00:00.000Z', id: 'request-1', method: 'PUT', path: '/<b>', caller: 'olga' },
  ...{ status: 400, ms: 7, error: '{"error":"invalid_request"}' },
};

const pages = untilEnd(
  await startPages({
    ...{ port: 0, apiUrl: 'http://127.0.0.1:1', s3Url: 'http://127.0.0.1:1' },
    tokens: { olga: 'owner-token</script>', mats: 'member-token' },
    requests: { latest: () => [rejected] },
  }),
);

async function ask(method: string, path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${pages.url}${path}`, { method, headers, redirect: 'manual' });
  return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
}

describe('the local pages', () => {
  test('list tokens, and requests with their caller and what failed, and escape them', async () => {
    const { body } = await ask('GET', '/');

    expect(body).toContain('<code>PUT /&lt;b&gt;</code>');
    expect(body).toContain('olga, 7 ms, request request-1');
    expect(body).toContain('{&quot;error&quot;:&quot;invalid_request&quot;}');
    expect(body).toContain('olga <input readonly value="owner-token&lt;/script&gt;">');
    expect((await ask('GET', '/reference/')).body).toContain("OWNER='owner-token&lt;/script&gt;'");
  });

  test.each([
    ['GET', '/', 200, 'text/html; charset=utf-8'],
    ['GET', '/demo.zip?version=1.0.0', 200, 'application/zip'],
    ['GET', '/reference', 301, null],
    ['HEAD', '/', 200, 'text/html; charset=utf-8'],
    ['POST', '/', 404, null],
  ])('answer %s %s with %i and %j', async (method, path, status, type) => {
    const answer = await ask(method, path);

    expect([answer.status, answer.type]).toEqual([status, type]);
    expect(answer.body.length > 100).toBe(status === 200 && method === 'GET');
  });

  test('answer what a page of their own asks for, and no other page of this machine', async () => {
    expect((await ask('GET', '/', { origin: pages.url })).status).toBe(200);
    expect((await ask('GET', '/', { origin: 'http://localhost:1' })).status).toBe(403);
  });
});
