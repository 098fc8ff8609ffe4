import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { loadContracts } from '../../infra/operations.ts';
import { sendExamples } from '../../tools/examples/http-file.ts';
import { serve } from '../support/serve.ts';

const { url: origin } = await serve((_, response) => response.writeHead(404, { 'x-kind': 'echo' }).end('{}'));

/* What the examples say that holds is sent by clients.test.ts: here are expectations that must fail. */

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
])('an .http file reports that an answer is not as expected: %s', async (expectation, failure) => {
  const file = `### Ask\nGET ${origin}/missing\n\n?? ${expectation}\n`;

  for await (const { failures } of sendExamples(file)) expect(failures).toEqual([failure]);
  expect.assertions(1);
});

test('docs/examples show a success and an error of every operation', async () => {
  const files = ['proxies', 'registry'].map((name) => readFileSync(`docs/examples/${name}.http`, 'utf8'));
  const examples = files.join('').split(/^### /m);
  const missing = (await loadContracts()).flatMap(({ name, method, path }) => {
    const address = path.replaceAll(/\{\w+\+?\}/g, '[^/\\s]+');
    const shown = examples.filter((text) => new RegExp(`^${method} {{host}}${address}$`, 'm').test(text));
    const kinds = ['2', '[45]'].filter(
      (kind) => !shown.some((text) => new RegExp(`status == ${kind}`).test(text)),
    );
    return kinds.map((kind) => `${name} ${kind}`);
  });

  expect(missing).toEqual([]);
});
