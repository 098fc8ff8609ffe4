import { createSigningKey, signClaims } from '../../tools/local/issuer.ts';
import { bearer } from './tokens.ts';

/** Every kind of caller, and its Authorization header. */
export const actors = {
  nobody: () => undefined,
  stranger: () => bearer('stranger'),
  member: () => bearer('member'),
  owner: () => bearer('owner'),
  'owner of another publisher': () => bearer('other-owner'),
  admin: () => bearer('admin', { admin: true }),
  'owner of a banned publisher': () => bearer('banned-owner'),
  'removed owner': () => bearer('removed-owner'),
  'owner whose token has expired': () => bearer('owner', { expiresInSeconds: -60 }),
  'owner named like a property of every object': () => bearer('constructor'),
  forger: () => `Bearer ${signClaims(createSigningKey('development'), claims())}`,
  'forger without a signature': () => `Bearer ${unsigned(claims())}`,
  'sender of another scheme': () => 'Basic b3duZXI6b3duZXI=',
} as const satisfies Record<string, () => string | undefined>;

export type Actor = keyof typeof actors;

/** The user of each actor with a valid token. */
export const users: Partial<Record<Actor, string>> = {
  stranger: 'stranger',
  member: 'member',
  owner: 'owner',
  'owner of another publisher': 'other-owner',
  admin: 'admin',
  'owner of a banned publisher': 'banned-owner',
  'removed owner': 'removed-owner',
  'owner named like a property of every object': 'constructor',
};

function claims(): object {
  const now = Math.floor(Date.now() / 1000);
  const { TOKEN_ISSUER: iss, TOKEN_AUDIENCE: aud } = process.env;
  return { iss, aud, sub: 'owner', iat: now, exp: now + 600 };
}

function unsigned(content: object): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode({ alg: 'none', typ: 'JWT' })}.${encode(content)}.AA`;
}
