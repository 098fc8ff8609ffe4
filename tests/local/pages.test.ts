import { describe, expect, test } from '@jest/globals';
import { startPages } from '../../tools/local/pages.ts';
import { createRequestLog } from '../../tools/local/request-log.ts';
import { untilEnd } from '../support/serve.ts';

const output = { write: () => true };
const requests = createRequestLog(output);
const pages = untilEnd(
  await startPages({
    port: 0,
    apiUrl: 'http://127.0.0.1:1',
    requests,
    tokens: { olga: 'owner-token</script>', mats: 'member-token' },
  }),
);

async function ask(method: string, path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${pages.url}${path}`, { method, headers, redirect: 'manual' });
  return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
}

describe('the local pages', () => {
  test('tell the studio each request as it comes, with the lines that its function logged', async () => {
    const { body } = await fetch(`${pages.url}/requests`);
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const read = async () => {
      const { value } = await reader.read();
      return JSON.parse(new TextDecoder().decode(value).slice('data: '.length));
    };
    expect(await read()).toEqual([]);
    const request = {
      at: '2026-11-24T12:00:00.000Z',
      id: 'request-1',
      method: 'PUT',
      path: '/<b>',
      caller: 'olga',
      status: 400,
      ms: 7,
      body: '{}',
      error: '{"error":"invalid_request"}',
    };
    const lines = ['request-1', 'request-2'].map((request_id) => ({ level: 'info', request_id }));
    for (const line of lines) (output.write as (text: string) => boolean)(`${JSON.stringify(line)}\n`);
    requests.add(request);

    expect(await read()).toEqual([{ ...request, lines: lines.slice(0, 1) }]);
    await reader.cancel();
  });

  test('escape the token that the reference shows', async () => {
    expect((await ask('GET', '/reference/')).body).toContain("OWNER='owner-token&lt;/script&gt;'");
  });

  test('show client code of each operation, a paid one by the table of the studio, but of those for clients of a provider', async () => {
    const [, ...articles] = (await ask('GET', '/reference/')).body.split('<article id="');
    const without = articles.filter((article) => !article.includes('await registry.'));

    expect(without.map((article) => article.split('"', 1)[0])).toEqual(['relightResult', 'taskCreations']);
  });
});
