import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from '@jest/globals';
import { type ExampleResult, parseHttpFile, sendExamples } from '../../tools/examples/http-file.ts';
import { startHttpServer } from '../../tools/processes/http-server.ts';

/** Answers with what it was sent. */
const { url: origin, stop } = await startHttpServer(async (request, response) => {
  const body = await text(request);
  const { method, url, headers } = request;
  response.writeHead(url === '/missing' ? 404 : 200, { 'x-kind': 'echo' });
  response.end(url === '/text' ? 'no JSON' : JSON.stringify({ method, url, headers, body }));
});

afterAll(stop);

async function send(source: string): Promise<ExampleResult[]> {
  const results: ExampleResult[] = [];
  for await (const result of sendExamples(parseHttpFile(source))) results.push(result);
  return results;
}

describe('an .http file', () => {
  test('sends method, headers and body with variables and expressions filled in', async () => {
    const source = `# A comment
@host = {{process.env.NOWHERE ?? '${origin}'}}
@word = blue

### Send a color
POST {{host}}/colors?q={{1 + 1}}
X-Color: {{word}}
Content-Type: application/json

{ "color": "{{word}}",

  "a blank line": true }

?? status == 200
?? header x-kind == echo
`;
    const [result] = await send(source);

    expect(result).toMatchObject({
      title: 'Send a color',
      request: `POST ${origin}/colors?q=2`,
      failures: [],
    });
    expect(JSON.parse(String(result?.answer))).toMatchObject({
      method: 'POST',
      url: '/colors?q=2',
      headers: { 'x-color': 'blue', 'content-type': 'application/json' },
      body: '{ "color": "blue",\n\n  "a blank line": true }',
    });
  });

  test('uses the answer of an earlier example by its name', async () => {
    const results = await send(`### First
# @name first
GET ${origin}/one

### Second
GET ${origin}/after{{first.url}}
X-Kind: {{firstResponse.headers['x-kind']}}

?? js response.parsedBody.url == /after/one
?? js response.parsedBody.url == /after{{first.url}}
?? js response.parsedBody.headers['x-kind'] == echo
`);

    expect(results.map(({ failures }) => failures)).toEqual([[], []]);
  });

  test.each([
    ['status == 200', 'expected status == 200, found 404'],
    ['header x-kind == other', 'expected header x-kind == other, found "echo"'],
    ['header etag exists', 'expected header etag exists, found undefined'],
    [
      'js response.parsedBody.none.deeper == 1',
      'expected js response.parsedBody.none.deeper == 1, found undefined',
    ],
    ['js response.status > 404', 'expected js response.status > 404, found 404'],
    ['body contains x', '"body contains x" is not a known form of expectation'],
  ])('reports that an answer is not as expected: %s', async (expectation, failure) => {
    const [result] = await send(`### Ask\nGET ${origin}/missing\n\n?? ${expectation}\n`);

    expect(result?.failures).toEqual([failure]);
  });

  test('reads an answer that is not JSON', async () => {
    const [result] = await send(
      `### Ask\nGET ${origin}/text\n\n?? status == 200\n?? js response.parsedBody == undefined\n`,
    );

    expect(result).toMatchObject({ answer: 'no JSON', failures: [] });
  });

  test('rejects an example without a request', () => {
    expect(() => parseHttpFile('### Nothing\n# only a comment\n')).toThrow(
      'The example "Nothing" has no request.',
    );
  });
});
