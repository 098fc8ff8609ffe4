import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parameters } from '../../infra/parameters/parameters.ts';
import { createSigningKey, publicKeyOf, signClaims } from '../../tools/local/issuer.ts';

/** The table of docs/deploy.md is held to the code with tokens as each issuer makes them. */

type Claims = Record<string, unknown>;

interface Issuer {
  /** What an access token has in addition to `iss`, `sub` and the times. */
  user: (audience: string) => Claims;
  admin: Claims;
  /** A token that is refused, and the reason that a 401 gives. */
  refused: [claims: (audience: string) => Claims, reason: string];
}

const issuers: Record<string, Issuer> = {
  'Amazon Cognito': {
    user: (client_id) => ({ client_id, token_use: 'access', scope: 'openid' }),
    admin: { 'cognito:groups': ['staff', 'admin'] },
    refused: [(aud) => ({ aud, token_use: 'id' }), 'id_token'],
  },
  Auth0: {
    user: (aud) => ({ aud: [aud, 'https://acme.us.auth0.com/userinfo'], azp: 'client' }),
    admin: { 'https://acme.example.com/roles': ['admin'] },
    refused: [(aud) => ({ aud, iss: 'https://acme.us.auth0.com' }), 'wrong_issuer_slash'],
  },
  Keycloak: {
    user: (aud) => ({ aud: ['account', aud], realm_access: { roles: ['default-roles-acme'] } }),
    admin: { realm_access: { roles: ['default-roles-acme', 'admin'] } },
    refused: [() => ({ aud: 'account' }), 'wrong_audience'],
  },
  'Microsoft Entra ID': {
    user: (aud) => ({ aud, ver: '2.0' }),
    admin: { roles: ['admin'] },
    refused: [(aud) => ({ aud, ver: '1.0', iss: 'https://sts.windows.net/11111111/' }), 'wrong_issuer'],
  },
  Okta: {
    user: (aud) => ({ aud, cid: '0oa123', groups: ['Everyone'] }),
    admin: { groups: ['Everyone', 'admin'] },
    refused: [() => ({ aud: 'https://acme.okta.com' }), 'wrong_audience'],
  },
  Google: {
    user: (aud) => ({ aud, azp: aud, email: 'olga@example.com' }),
    admin: { email: 'admin@example.com', email_verified: false },
    refused: [() => ({ aud: 'another.apps.googleusercontent.com' }), 'wrong_audience'],
  },
  Clerk: {
    user: (aud) => ({ aud, azp: 'https://app.example.com' }),
    admin: { role: 'admin' },
    refused: [() => ({ azp: 'https://app.example.com', sid: 'sess_1' }), 'wrong_audience'],
  },
};

const key = createSigningKey();

/** The parameters of each row, without their backticks. */
const rows = new Map(
  [...readFileSync('docs/deploy.md', 'utf8').matchAll(/^\| (\w[^|`]+?) \| (`https:.+)$/gm)].map(
    ([, name, rest]) => {
      const [tokenIssuer, tokenKeySetUrl, tokenAudience, adminClaim, adminClaimValue] = [
        ...String(rest).matchAll(/`([^`]+)`/g),
      ].map(([, value]) => String(value));
      return [String(name), { tokenIssuer, tokenKeySetUrl, tokenAudience, adminClaim, adminClaimValue }];
    },
  ),
);

test('docs/deploy.md has a row for each of these issuers, and for no other', () => {
  expect([...rows.keys()]).toEqual(Object.keys(issuers));
});

describe.each(Object.entries(issuers))('with the parameters for %s', (name, { user, admin, refused }) => {
  const row = rows.get(name);
  const audience = String(row?.tokenAudience);
  const userId = 'olga';
  let authenticate: (authorization: string) => Promise<unknown>;

  beforeAll(async () => {
    Object.assign(process.env, {
      TOKEN_ISSUER: row?.tokenIssuer,
      TOKEN_JWKS_URL: row?.tokenKeySetUrl,
      TOKEN_JWKS: JSON.stringify({ keys: [publicKeyOf(key)] }),
      TOKEN_AUDIENCE: audience,
      ADMIN_CLAIM: row?.adminClaim,
      ADMIN_CLAIM_VALUE: row?.adminClaimValue,
    });
    jest.resetModules();
    ({ authenticate } = await import('../../lib/auth/access-tokens.ts'));
  });

  function bearer(claims: Claims): string {
    const now = Math.floor(Date.now() / 1000);
    return `Bearer ${signClaims(key, { iss: row?.tokenIssuer, sub: userId, iat: now, exp: now + 60, ...claims })}`;
  }

  test('packages a stage', () => {
    const rejected = Object.entries(row ?? {}).filter(
      ([name, value]) => parameters[name]?.problemsOf(String(value)).length !== 0,
    );

    expect(rejected).toEqual([]);
  });

  test('accepts its access token, and makes its user no admin', async () => {
    expect(await authenticate(bearer(user(audience)))).toEqual({ userId, isAdmin: false });
  });

  test('rejects its ID token only with token_use, as the page says', async () => {
    const idToken = { aud: audience, typ: 'ID', nonce: 'n-0S6_WzA2Mj' };

    expect(await authenticate(bearer(idToken))).toEqual({ userId, isAdmin: false });
    await expect(authenticate(bearer({ ...idToken, token_use: 'id' }))).rejects.toMatchObject({
      reason: 'id_token',
    });
  });

  test('accepts its access token of an admin as one', async () => {
    const claims = { ...user(audience), ...admin };

    expect(await authenticate(bearer(claims))).toEqual({ userId, isAdmin: true });
  });

  test(`rejects the token that is often sent by mistake: ${refused[1]}`, async () => {
    const [claims, reason] = refused;

    await expect(authenticate(bearer(claims(audience)))).rejects.toMatchObject({
      code: 'unauthorized',
      reason,
    });
  });
});
