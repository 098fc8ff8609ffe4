import dns from 'node:dns';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { verifyCiToken } from '../../../lib/auth/ci-tokens.ts';
import { configure } from '../../../lib/config.ts';
import {
  audience,
  gitHub,
  gitHubToken,
  gitLab,
  gitLabClaims,
  keySetOf,
  keySets,
  sign,
} from '../../support/ci.ts';
import { stopDate } from '@node-registry/testing/clock';
import { serve } from '../../support/serve.ts';

/** What a token proves and which tokens publish nothing is tested through the front door, in tests/functions. */

beforeEach(() => void Object.assign(keySets, { areDown: false, requests: 0 }));

/** As after a cold start. */
beforeEach(() => configure({ ...process.env }));

describe('verifyCiToken', () => {
  test.each([
    [`${gitHub.issuer}/.well-known/jwks`, gitHubToken()],
    [`${gitLab.issuer}/oauth/discovery/keys`, sign(gitLabClaims(), gitLab.key)],
  ])('asks for the keys of GitHub and GitLab where they publish them: %s', async (address, token) => {
    const hosts: unknown[] = [];
    jest.spyOn(dns, 'lookup').mockImplementation(((host: unknown, ...rest: unknown[]) => {
      hosts.push(host);
      (rest.at(-1) as (error: Error) => void)(new Error('no network'));
    }) as never);
    configure({ ...process.env, CI_ISSUERS: '' });
    const error = await verifyCiToken(token).catch((error: unknown) => error);

    expect(hosts).toEqual([new URL(address).host]);
    const cause = { message: expect.stringContaining(`${address}:`) };
    expect(error).toMatchObject({ code: 'unavailable', cause });
  });

  test('answers unavailable while an issuer is down, for that issuer alone and until it is up', async () => {
    stopDate();
    keySets.areDown = true;
    await expect(verifyCiToken(gitHubToken())).rejects.toMatchObject({ code: 'unavailable' });
    keySets.areDown = false;
    await expect(verifyCiToken(gitHubToken())).rejects.toMatchObject({ code: 'unavailable' });
    const other = await verifyCiToken(sign(gitLabClaims(), gitLab.key));
    stopDate(Date.now() + 11_000);
    const later = await verifyCiToken(gitHubToken());

    expect([other.issuer, later.issuer]).toEqual([gitLab.issuer, gitHub.issuer]);
  });

  test('accepts a token of up to 16,384 characters', async () => {
    const tokenWith = (padding: number) => gitHubToken({ padding: 'x'.repeat(padding) });
    let padding = 11_200;
    while (tokenWith(padding + 1).length <= 16_384) padding += 1;

    expect(await verifyCiToken(tokenWith(padding))).toMatchObject({ repository: 'octo/nodes' });
    await expect(verifyCiToken(tokenWith(padding + 1))).rejects.toMatchObject({
      reason: 'ci_token_malformed',
    });
  });

  test('takes the times of a token with five seconds to spare', async () => {
    stopDate(Math.floor(Date.now() / 1000) * 1000);
    const now = Date.now() / 1000;
    for (const times of [{ exp: now - 5 }, { nbf: now + 5 }])
      expect(await verifyCiToken(gitHubToken(times))).toMatchObject({ repository: 'octo/nodes' });
    for (const [times, reason] of [
      [{ exp: now - 6 }, 'ci_token_expired'],
      [{ nbf: now + 6 }, 'ci_token_not_yet_valid'],
    ] as const)
      await expect(verifyCiToken(gitHubToken(times))).rejects.toMatchObject({ reason });
  });

  test('accepts each of several audiences, and no token if none is configured', async () => {
    configure({ ...process.env, CI_AUDIENCE: '' });
    await expect(verifyCiToken(gitHubToken())).rejects.toMatchObject({ reason: 'ci_token_wrong_audience' });
    configure({ ...process.env, CI_AUDIENCE: `https://old.example.com, ${audience}` });
    const token = gitHubToken({ aud: ['https://old.example.com'] });

    expect(await verifyCiToken(token)).toMatchObject({ repository: 'octo/nodes' });
    expect(await verifyCiToken(gitHubToken())).toMatchObject({ repository: 'octo/nodes' });
  });

  test('accepts another issuer that is configured, with its key set and the files of its own host', async () => {
    const paths: unknown[] = [];
    const server = await serve(({ url }, response) => {
      paths.push(url);
      response.end(keySetOf(gitLab.key));
    });
    configure({ ...process.env, CI_ISSUERS: `gitlab ${server.url}/` });
    const file = `${new URL(server.url).host}/group/nodes//ci/release.yml@refs/tags/v1.0.0`;
    const own = { iss: `${server.url}/`, project_path: 'group/nodes' };
    const tokens = [{ ...own, ci_config_ref_uri: file }, own].map((each) =>
      sign(gitLabClaims(each), gitLab.key),
    );
    const [named, foreign] = await Promise.allSettled(tokens.map(verifyCiToken));

    expect(named).toMatchObject({ value: { issuer: own.iss, workflow: 'ci/release.yml' } });
    expect(foreign).toMatchObject({ reason: { reason: 'ci_token_foreign_workflow' } });
    expect(paths).toEqual(['/oauth/discovery/keys']);
  });
});
