import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { valueProblems } from '../../infra/parameters/parameter-problems.ts';
import { parameters } from '../../infra/parameters/parameters.ts';
import { authenticate } from '../../lib/auth/access-tokens.ts';
import { configure, inCamelCase, tokens } from '../../lib/config.ts';
import { createSigningKey, publicKeyOf, signClaims } from '../../tools/local/issuer.ts';

/** The table of docs/deploy.md is held to the code with tokens as each issuer makes them. */

type Claims = Record<string, unknown>;

interface Issuer {
  /** What an access token has in addition to `iss`, `sub` and the times. */
  user: (audience: string) => Claims;
  admin: Claims;
}

const issuers: Record<string, Issuer> = {
  'Amazon Cognito': {
    user: (client_id) => ({ client_id, token_use: 'access', scope: 'openid' }),
    admin: { 'cognito:groups': ['staff', 'admin'] },
  },
  Auth0: {
    user: (aud) => ({ aud: [aud, 'https://acme.us.auth0.com/userinfo'], azp: 'client' }),
    admin: { 'https://acme.example.com/roles': ['admin'] },
  },
  Keycloak: {
    user: (aud) => ({ aud: ['account', aud], realm_access: { roles: ['default-roles-acme'] } }),
    admin: { realm_access: { roles: ['default-roles-acme', 'admin'] } },
  },
  'Microsoft Entra ID': { user: (aud) => ({ aud, ver: '2.0' }), admin: { roles: ['admin'] } },
  Okta: {
    user: (aud) => ({ aud, cid: '0oa123', groups: ['Everyone'] }),
    admin: { groups: ['Everyone', 'admin'] },
  },
  Google: {
    user: (aud) => ({ aud, azp: aud, email: 'olga@example.com' }),
    admin: { email: 'admin@example.com', email_verified: false },
  },
  Clerk: {
    user: (aud) => ({ aud, azp: 'https://app.example.com' }),
    admin: { role: 'admin' },
  },
};

const key = createSigningKey();

/** The parameters of each row, without their backticks. */
const columns = ['tokenIssuer', 'tokenKeySetUrl', 'tokenAudience', 'adminClaim', 'adminClaimValue'];
const rows = new Map(
  [...readFileSync('docs/deploy.md', 'utf8').matchAll(/^\| (\w[^|`]+?) \| (`https:.+)$/gm)].map(
    ([, name, rest]): [string, Record<string, string>] => {
      const spans = [...String(rest).matchAll(/`([^`]+)`/g)].slice(0, columns.length);
      const values = spans.map(([, value], place) => [columns[place], value]);
      return [String(name), Object.fromEntries(values)];
    },
  ),
);

test('docs/deploy.md has a row for each of these issuers, and for no other', () => {
  expect([...rows.keys()]).toEqual(Object.keys(issuers));
});

test.each(Object.entries(issuers))(
  'the parameters for %s let in its users and admins',
  async (name, { user, admin }) => {
    const row = rows.get(name);
    const aud = String(row?.tokenAudience);
    for (const [name, value] of Object.entries(row ?? {})) {
      const { [name]: parameter } = parameters;
      expect(parameter && valueProblems(parameter, value)).toEqual([]);
    }
    const given = Object.keys(tokens.variables()).map((name) => [name, row?.[inCamelCase(name)]]);
    const TOKEN_KEY_SET = JSON.stringify({ keys: [publicKeyOf(key)] });
    configure({ ...Object.fromEntries(given), TOKEN_KEY_SET });
    const now = Math.floor(Date.now() / 1000);
    const common = { iss: row?.tokenIssuer, sub: 'olga', iat: now, exp: now + 60 };
    const send = (claims: Claims) => authenticate(`Bearer ${signClaims(key, { ...common, ...claims })}`);

    expect(await send(user(aud))).toMatchObject({ userId: 'olga', isAdmin: false });
    expect(await send({ ...user(aud), ...admin })).toMatchObject({ userId: 'olga', isAdmin: true });
  },
);
