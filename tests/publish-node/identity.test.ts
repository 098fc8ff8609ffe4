import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { demo } from '../../tools/local/demo.ts';
import { folder } from '@node-registry/testing/folders';
import { publishNode } from '@node-registry/testing/publish-node';
import { writeFiles } from '@node-registry/testing/shell';
import { startHttpApi } from '../support/http-api.ts';
import { serve } from '../support/serve.ts';

const idToken = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyZXBvIn0.c2lnbmF0dXJl';
const stored = {
  NODE_REGISTRY_TOKEN: demo.personalAccessToken,
  NODE_REGISTRY_ACCESS_TOKEN: 'a.stored.bearer',
};

/** Serves ID tokens like a GitHub runner, for an audience, to requests with the job's own secret. */
const asked: { url: string; authorization: string | undefined }[] = [];
interface Answer {
  status: number;
  body: object;
  location?: string;
}
const answers: Answer[] = [];
const runner = await serve((request, response) => {
  asked.push({ url: String(request.url), authorization: request.headers.authorization });
  const { status, body, location } = answers.shift() ?? { status: 200, body: { value: idToken } };
  const headers = { 'content-type': 'application/json', ...(location && { location }) };
  response.writeHead(status, headers).end(JSON.stringify(body));
});
const api = await startHttpApi();

beforeEach(async () => {
  asked.length = 0;
  answers.length = 0;
  await writeFiles(folder, { 'node.py': 'x' });
});

const gitHub = () => ({
  GITHUB_ACTIONS: 'true',
  ACTIONS_ID_TOKEN_REQUEST_URL: `${runner.url}/token?api-version=2.0`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret of the job',
});
const gitLab = { GITLAB_CI: 'true', NODE_REGISTRY_ID_TOKEN: idToken };

/** Publishes to a registry that rejects the token. */
function publish(env: NodeJS.ProcessEnv, ...args: string[]) {
  api.disturb({ status: 401, body: { error: 'invalid_personal_access_token', message: 'Not trusted.' } });
  const named = ['--publisher', 'demo', '--node', 'x', '--version', '1.0.0', '--base-url', `${api.url}/`];
  return publishNode(['publish', folder, ...named, ...args], { env });
}

/** The tokens that the registry received, in the body and as the bearer. */
const sent = () =>
  api.received
    .filter(({ route }) => route.includes('/publishers/'))
    .map(({ body, headers }) => [JSON.parse(body).personal_access_token, headers.authorization]);

describe('the ID token of a CI job', () => {
  test('sends the ID token in GitHub Actions, for the audience of the registry', async () => {
    const { code, stderr } = await publish({ ...gitHub(), ...stored });

    const url = `/token?api-version=2.0&audience=${encodeURIComponent(api.url)}`;
    expect(asked).toEqual([{ url, authorization: 'Bearer secret of the job' }]);
    expect(sent()).toEqual([[idToken, undefined]]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('as this GitHub Actions job.')]);
    expect(stderr).toContain('request: Not trusted. It is the ID token of this GitHub Actions job.');
    expect(stderr).not.toContain(idToken);
  });

  test('sends the ID token in GitHub Actions, for a given audience and after a retry', async () => {
    answers.push({ status: 500, body: {} });
    await publish(gitHub(), '--audience', 'our-registry');

    const url = '/token?api-version=2.0&audience=our-registry';
    expect(asked.map((each) => each.url)).toEqual([url, url]);
    expect(sent()).toEqual([[idToken, undefined]]);
  });

  test('sends the ID token in GitLab', async () => {
    const { stderr } = await publish({ ...gitLab, ...stored });

    expect(sent()).toEqual([[idToken, undefined]]);
    expect(stderr).toContain('as this GitLab job.');
  });
});

describe('publish-node in a CI job without an ID token', () => {
  test.each<[string, () => NodeJS.ProcessEnv, string]>([
    ['GitHub Actions', () => ({ GITHUB_ACTIONS: 'true' }), 'Add "permissions: id-token: write" to the job.'],
    ['GitLab', () => ({ GITLAB_CI: 'true' }), 'Add "id_tokens: NODE_REGISTRY_ID_TOKEN" to the job.'],
  ])('publishes with the ID token in %s, even if a token is stored', async (_, env, advice) => {
    const { code, stderr } = await publish({ ...env(), ...stored });

    expect([code, stderr]).toEqual([2, expect.stringContaining(advice)]);
    expect(stderr).toContain('NODE_REGISTRY_TOKEN is not used unless you pass --identity token.');
    expect(api.received).toEqual([]);
  });

  test.each<[sentence: string, answer: Answer, times: number]>([
    ['status 403.', { status: 403, body: {} }, 1],
    ['an answer without one.', { status: 200, body: {} }, 1],
    ['an answer that is too long.', { status: 200, body: { value: 'x'.repeat(200_000) } }, 1],
    ['status 500.', { status: 500, body: {} }, 3],
    // The secret of the job would go along.
    ['it cannot be reached.', { status: 302, body: {}, location: '/elsewhere' }, 3],
    ['it cannot be reached.', { status: 307, body: {}, location: '/elsewhere' }, 3],
  ])('fails in GitHub Actions with: %s', async (sentence, answer, times) => {
    answers.push(answer, answer, answer);
    const { code, stderr } = await publish({ ...gitHub(), ...stored });

    expect([code, stderr]).toEqual([
      5,
      expect.stringContaining(`GitHub Actions gave no ID token: ${sentence}`),
    ]);
    expect([asked.length, sent()]).toEqual([times, []]);
    expect(asked.map(({ url }) => url)).not.toContain('/elsewhere');
  });

  test('fails in GitHub Actions that is silent for ten seconds, three times', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort());
    const { code, stderr } = await publish(gitHub());
    const { calls } = timeout.mock;
    timeout.mockRestore();

    expect([code, stderr]).toEqual([5, expect.stringContaining('cannot be reached')]);
    expect(calls).toEqual([[10_000], [10_000], [10_000]]);
  });

  test('fails on a person’s computer if --identity names a CI', async () => {
    const { code, stderr } = await publish(stored, '--identity', 'ci');

    expect([code, stderr]).toEqual([2, 'This is not a CI that issues ID tokens.\n']);
  });
});

test.each<[string, () => NodeJS.ProcessEnv, string[]]>([
  ['outside of a CI', () => stored, []],
  ['in GitHub Actions on demand', () => ({ ...gitHub(), ...stored }), ['--identity', 'token']],
  ['in GitLab by name', () => ({ ...gitLab, ...stored }), ['--token', demo.personalAccessToken]],
  ['in another CI', () => ({ CI: 'true', ...stored }), []],
])('publish-node uses a stored token %s', async (_, env, args) => {
  const { stderr } = await publish(env(), ...args);

  expect(asked).toEqual([]);
  expect(sent()).toEqual([[demo.personalAccessToken, 'Bearer a.stored.bearer']]);
  const origin = args.includes('--token') ? '--token' : 'NODE_REGISTRY_TOKEN';
  expect(stderr).toContain(`Not trusted. It came from ${origin}.`);
  expect(stderr).toContain('as the holder of a personal access token.');
  expect(stderr).not.toContain(demo.personalAccessToken);
});
