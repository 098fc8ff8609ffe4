import { createSigningKey, signClaims } from '../local/issuer.ts';
import type { Harness } from './harness.ts';

/** Every kind of caller, and its Authorization header. */
export const actors = {
  nobody: () => undefined,
  stranger: ({ bearer }: Harness) => bearer('stranger'),
  member: ({ bearer }: Harness) => bearer('member'),
  owner: ({ bearer }: Harness) => bearer('owner'),
  'owner of another publisher': ({ bearer }: Harness) => bearer('other-owner'),
  admin: ({ bearer }: Harness) => bearer('admin', { admin: true }),
  'owner of a banned publisher': ({ bearer }: Harness) => bearer('banned-owner'),
  'removed owner': ({ bearer }: Harness) => bearer('removed-owner'),
  'owner whose token has expired': ({ bearer }: Harness) => bearer('owner', { expiresInSeconds: -60 }),
  'owner named like a property of every object': ({ bearer }: Harness) => bearer('constructor'),
  forger: () => `Bearer ${signClaims(createSigningKey('development'), claims())}`,
  'forger without a signature': () => `Bearer ${unsigned(claims())}`,
  'sender of another scheme': () => 'Basic b3duZXI6b3duZXI=',
} as const satisfies Record<string, (harness: Harness) => string | undefined>;

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
