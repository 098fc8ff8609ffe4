import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { JwtVerifier } from 'aws-jwt-verify';
import type { Jwk } from 'aws-jwt-verify/jwk';
import { audience, issuerName } from '../../tools/local/addresses.ts';
import { publicKeyOf } from '../../tools/local/issuer.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'node-registry-token-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

/** Runs the command over a folder in which the local issuer has no key yet. */
function printToken(...args: string[]) {
  const options = { env: { ...process.env, NODE_OPTIONS: '', LOCAL_DIRECTORY: directory } };
  return new Promise<{ status: number; stdout: string; stderr: string }>((settle) => {
    const child = execFile(
      process.execPath,
      ['tools/local/token.ts', ...args],
      options,
      (_, stdout, stderr) => settle({ status: Number(child.exitCode), stdout, stderr }),
    );
  });
}

async function claimsOf(token: string) {
  const key = JSON.parse(await readFile(join(directory, 'issuer-key.json'), 'utf8'));
  const verifier = JwtVerifier.create({ issuer: issuerName, audience, jwksUri: `${issuerName}/keys` });
  verifier.cacheJwks({ keys: [publicKeyOf(key) as Jwk] });
  return verifier.verify(token);
}

describe('npm run token', () => {
  test('prints nothing but a token that the local issuer’s own key verifies', async () => {
    const first = await printToken('--user', 'demo-owner');
    const second = await printToken('--user', 'root', '--admin', '--hours', '1');

    const claims = await claimsOf(first.stdout.trim());
    const adminClaims = await claimsOf(second.stdout.trim());

    expect([first.stderr, second.stderr]).toEqual(['', '']);
    expect(claims).toMatchObject({ sub: 'demo-owner', exp: Number(claims.iat) + 12 * 3600 });
    expect(claims).not.toHaveProperty('role');
    expect(adminClaims).toMatchObject({ sub: 'root', role: 'admin', exp: Number(adminClaims.iat) + 3600 });
  });

  test.each([
    [[], 'Say whom the token is for, such as --user demo-owner.'],
    [['--usr', 'x'], "Unknown option '--usr'."],
    [['--user', 'x', '--hours', '0'], '--hours takes a whole number from 1 to 8760.'],
  ])('refuses %j in one sentence', async (args, sentence) => {
    const result = await printToken(...args);

    expect(result).toEqual({ status: 2, stdout: '', stderr: `${sentence} See npm run token -- --help\n` });
  });
});
