import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { audience, issuerName } from '../../tools/local/addresses.ts';
import { issueCiToken, loadSigningKey, startIssuer } from '../../tools/local/issuer.ts';
import { directory } from '@node-registry/testing/folders';
import { runProgram } from '@node-registry/testing/shell';
import { untilEnd } from '../support/serve.ts';

const issuer = untilEnd(await startIssuer(0, await loadSigningKey(directory)));

/** Runs the command next to a stack whose issuer listens at `url`, wherever its data is. */
function printTokenAt(url: string, ...args: string[]) {
  const LOCAL_PORT_OFFSET = String(Number(new URL(url).port) - 3001);
  return runProgram(process.execPath, ['tools/local/token.ts', ...args], {
    env: { LOCAL_DIRECTORY: join(directory, 'elsewhere'), LOCAL_PORT_OFFSET },
  });
}

function printToken(...args: string[]) {
  return printTokenAt(issuer.url, ...args);
}

/** Any function of the tests checks the signature of such a token. */
function claimsOf(token: string) {
  return JSON.parse(Buffer.from(String(token.split('.')[1]), 'base64url').toString());
}

describe('npm run token', () => {
  test('prints nothing but a token, of a user for half a day or of an admin', async () => {
    const [user, admin] = [
      await printToken('--user', 'demo-owner'),
      await printToken('--user', 'root', '--admin'),
    ];
    const claims = claimsOf(user.stdout);

    expect([user.stderr, admin.stderr]).toEqual(['', '']);
    expect(user.stdout).toMatch(/^[\w-]+(?:\.[\w-]+){2}\n$/);
    expect(claims).toMatchObject({
      iss: issuerName,
      aud: audience,
      sub: 'demo-owner',
      exp: claims.iat + 12 * 3600,
    });
    expect(claims).not.toHaveProperty('role');
    expect(claimsOf(admin.stdout)).toMatchObject({ sub: 'root', role: 'admin' });
  });

  test('prints the ID token of a CI job, whose repository has the same ids each time', async () => {
    const key = await loadSigningKey(directory);
    const printed = await printToken('--ci', 'octo/nodes', '--workflow', 'ci.yml');
    const issue = (repository: string) => issueCiToken(key, { repository, workflow: 'ci.yml' });
    const [first, second, other] = [printed.stdout, issue('octo/nodes'), issue('octo/b')].map(claimsOf);

    expect(first).toMatchObject({
      workflow_ref: 'octo/nodes/.github/workflows/ci.yml@refs/tags/v1.0.0',
      exp: first.iat + 600,
    });
    expect(second).toMatchObject({
      repository_id: first.repository_id,
      jti: expect.not.stringMatching(first.jti),
    });
    expect(other.repository_id).not.toBe(first.repository_id);
    expect(other.repository_owner_id).toBe(first.repository_owner_id);
  });

  test('says that no stack runs', async () => {
    const stopped = await startIssuer(0, await loadSigningKey(directory));
    await stopped.stop();
    const { code, stdout, stderr } = await printTokenAt(stopped.url, '--user', 'x');

    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^No local stack runs on \S+: start it with npm start, or set its LOCAL_PORT_OFFSET\.\n$/,
    );
  });
});
