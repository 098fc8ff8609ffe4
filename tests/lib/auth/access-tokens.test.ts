import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import developmentKey from '../../../tools/local/development-key.json' with { type: 'json' };
import { createSigningKey, publicKeyOf, type SigningKey, signClaims } from '../../../tools/local/issuer.ts';
import { authenticate } from '../../../lib/auth/access-tokens.ts';
import { configure } from '../../../lib/config.ts';
import { serve } from '../../support/serve.ts';
import { stopDate } from '@node-registry/testing/clock';
import { sampleEvent } from '../../support/invoke.ts';
import { outwait, startSilentServer } from '../../support/silent-server.ts';

const issuer = 'https://issuer.example.com';
const known = createSigningKey('known');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

let keySet: { keys: object[] };
let fetches = 0;
let isDown = false;

const server = await serve((_, response) => {
  fetches += 1;
  response.statusCode = isDown ? 500 : 200;
  response.end(JSON.stringify(keySet));
});

beforeEach(() => {
  keySet = { keys: [publicKeyOf(known), { ...rsaJwk, kid: 'rsa', use: 'sig' }, developmentKey] };
  fetches = 0;
  isDown = false;
});

/** As after a cold start of a function with these variables. */
function start(variables: Record<string, string> = {}): void {
  configure({
    TOKEN_ISSUER: issuer,
    TOKEN_AUDIENCE: 'node-registry',
    TOKEN_KEY_SET_URL: `${server.url}/jwks.json`,
    ...variables,
  });
}

function claims(changes: object = {}): object {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer, aud: 'node-registry', sub: 'olga', iat: now, exp: now + 60, ...changes };
}

function token(changes: object = {}, key: SigningKey = known): string {
  return `Bearer ${signClaims(key, claims(changes))}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function pem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

const unsigned = `${encode({ alg: 'none', kid: 'known' })}.${encode(claims())}`;
const hs256Input = `${encode({ alg: 'HS256', kid: 'rsa' })}.${encode(claims())}`;
const rs256Of = (changes: object) => `${encode({ alg: 'RS256', kid: 'rsa' })}.${encode(claims(changes))}`;
const rs256Input = rs256Of({});
const hs256 = (secret: string) =>
  `Bearer ${hs256Input}.${createHmac('sha256', secret).update(hs256Input).digest('base64url')}`;
const rsaJwk = rsa.publicKey.export({ format: 'jwk' });
const critical = `${encode({ alg: 'RS256', kid: 'rsa', crit: ['exp'] })}.${encode(claims())}`;
const signedCritical = `Bearer ${critical}.${createSign('RSA-SHA256').update(critical).sign(rsa.privateKey, 'base64url')}`;
const signature = createSign('RSA-SHA256').update(rs256Input).sign(rsa.privateKey, 'base64url');
const now = Math.floor(Date.now() / 1000);

describe('authenticate', () => {
  test('answers the caller of a valid token', async () => {
    start();

    for (const authorization of [token(), `bearer ${rs256Input}.${signature}`])
      expect(await authenticate(authorization)).toMatchObject({ userId: 'olga', isAdmin: false });
  });

  test.each([[undefined], ['']])('answers no caller for the header %j', async (authorization) => {
    start();

    expect(await authenticate(authorization)).toBeUndefined();
  });

  test.each([
    ['the claim', { role: 'admin' }, {}, true],
    ['the claim among other values', { role: ['user', 'admin'] }, {}, true],
    ['another value', { role: 'administrator' }, {}, false],
    ['a configured claim', { groups: ['ops'] }, { ADMIN_CLAIM: 'groups', ADMIN_CLAIM_VALUE: 'ops' }, true],
    ['a nested claim', { realm: { roles: ['ops', 'admin'] } }, { ADMIN_CLAIM: 'realm.roles' }, true],
    ['a claim with dots', { 'https://a.b/role': 'admin' }, { ADMIN_CLAIM: 'https://a.b/role' }, true],
    ['an inherited property', {}, { ADMIN_CLAIM: 'constructor.name', ADMIN_CLAIM_VALUE: 'Object' }, false],
    ['the default claim when another one is configured', { role: 'admin' }, { ADMIN_CLAIM: 'groups' }, false],
  ])('decides whether a caller is an admin by %s', async (_, changes, environment, isAdmin) => {
    start(environment);

    expect(await authenticate(token(changes))).toMatchObject({ isAdmin });
  });

  const lightweight = { aud: undefined, azp: 'node-registry' };
  const azp = { TOKEN_AZP: 'accepted' };

  test.each<[reason: string, what: string, authorization: string, variables?: Record<string, string>]>([
    ['malformed', 'garbage', 'Bearer garbage'],
    ['wrong_scheme', 'another scheme', `Token ${token().slice(7)}`],
    ['wrong_scheme', 'text before the scheme', `x${token()}`],
    ['malformed', 'text after the token', `${token()} x`],
    ['malformed', 'alg none', `Bearer ${unsigned}.`],
    ['unsupported_algorithm', 'alg none with a signature', `Bearer ${unsigned}.${signature}`],
    ['unsupported_algorithm', 'HS256 with the public key', hs256(pem(rsa.publicKey))],
    ['bad_signature', 'a signature of other claims', `Bearer ${rs256Of({ sub: 'eve' })}.${signature}`],
    ['wrong_issuer', 'another issuer', token({ iss: 'https://evil.example.com' })],
    ['wrong_issuer_slash', 'an issuer with a slash', token({ iss: `${issuer}/` })],
    ['wrong_issuer', 'no issuer', token({ iss: undefined })],
    ['wrong_audience', 'another audience', token({ aud: 'another-service' })],
    ['wrong_audience', 'no audience', token({ aud: undefined })],
    ['wrong_audience', 'an azp alone', token(lightweight)],
    ['wrong_audience', 'another audience than its azp', token({ ...lightweight, aud: 'account' }), azp],
    ['wrong_audience', 'another azp', token({ ...lightweight, azp: 'another' }), azp],
    ['wrong_audience', 'another client_id than its azp', token({ ...lightweight, client_id: 'x' }), azp],
    ['expired', 'an end six seconds ago', token({ exp: now - 6 })],
    ['malformed', 'no end', token({ exp: undefined })],
    ['not_yet_valid', 'a beginning in six seconds', token({ nbf: now + 6 })],
    ['malformed', 'no subject', token({ sub: undefined })],
    ['malformed', 'an empty subject', token({ sub: '' })],
    ['malformed', 'a subject with half a character', token({ sub: 'a\ud800' })],
    ['critical_header', 'a critical header parameter', signedCritical],
    ['id_token', 'the use of an ID token', token({ token_use: 'id' })],
    ['id_token', 'the use of an ID token among others', token({ token_use: ['access', 'id'] })],
    ['bad_signature', 'a key that the issuer does not know', token({}, createSigningKey('unknown'))],
    ['bad_signature', 'a known key id with another key', token({}, { ...createSigningKey(), kid: 'known' })],
    ['wrong_issuer', 'the development key', `${sampleEvent('update-node').headers.authorization}`],
  ])('rejects as %s a token with %s', async (reason, _, authorization, ...[variables]) => {
    stopDate(now * 1000);
    start(variables);
    const error = await authenticate(authorization).catch((error) => error);

    expect(error).toMatchObject({ code: 'unauthorized', reason, message: expect.stringMatching(/ .*\.$/) });
    expect(error.headers).toEqual({
      'www-authenticate': `Bearer error="invalid_token", error_description="${error.message.replace(/\.$/, '')}"`,
    });
  });

  test.each<[string, object, Record<string, string>]>([
    ['the use of an ID token, if those are accepted', { token_use: 'id' }, { ID_TOKENS: 'accepted' }],
    ['the audience among others', { aud: ['account', 'node-registry'] }, {}],
    ['a client_id without an audience', { aud: undefined, client_id: 'node-registry' }, {}],
    ['an azp without an audience, if that is accepted', lightweight, azp],
    ['an end that is five seconds ago, for clocks that differ', { exp: now - 5 }, {}],
    ['a beginning in five seconds', { nbf: now + 5 }, {}],
  ])('accepts a token with %s', async (_, changes, variables) => {
    stopDate(now * 1000);
    start(variables);

    expect(await authenticate(token(changes).replace(' ', '   '))).toMatchObject({ userId: 'olga' });
  });

  test('rejects as bad_signature a supported algorithm that the key is not for', async () => {
    keySet.keys = [{ ...rsaJwk, kid: 'rsa', use: 'sig', alg: 'RS384' }];
    start();

    await expect(authenticate(`Bearer ${rs256Input}.${signature}`)).rejects.toMatchObject({
      reason: 'bad_signature',
    });
  });

  test('accepts the development key from an issuer on localhost only, even when a deployed key set holds it', async () => {
    const event = sampleEvent('update-node').headers.authorization;
    start({ TOKEN_ISSUER: 'http://localhost:3001' });
    expect(await authenticate(event)).toMatchObject({ userId: 'demo-owner', isAdmin: false });

    const [, body] = String(event).split('.');
    const { iss } = JSON.parse(Buffer.from(String(body), 'base64url').toString());
    start({ TOKEN_ISSUER: 'https://localhost:3001' });
    expect(iss).toBe('http://localhost:3001');
    const resigned = signClaims({ ...known, kid: 'development' }, claims({ iss: 'https://localhost:3001' }));
    keySet.keys = [{ ...publicKeyOf(known), kid: 'development' }];
    await expect(authenticate(`Bearer ${resigned}`)).rejects.toMatchObject({ code: 'unauthorized' });
  });
});

describe('the key set of authenticate', () => {
  test('fetches the key set once, and only once more within the interval for unknown keys', async () => {
    start();
    await authenticate(token());
    await authenticate(token());
    expect(fetches).toBe(1);

    const later = createSigningKey('later');
    await expect(authenticate(token({}, later))).rejects.toMatchObject({ code: 'unauthorized' });
    await Promise.allSettled(Array.from({ length: 20 }, () => authenticate(token({}, createSigningKey()))));
    expect(fetches).toBe(2);
    expect(await authenticate(token())).toBeDefined();
  });

  test.each([
    ['empty', { keys: [] }],
    ['without key ids', { keys: [{ ...publicKeyOf(known), kid: undefined }] }],
    ['of another shape', { keys: 'none' }],
    ['with a field of another type', { keys: [{ ...publicKeyOf(createSigningKey('new')), alg: 5 }] }],
    ['cut within a known key', { keys: [{ ...publicKeyOf(known), x: undefined }] }],
    [
      'for encryption under a known id',
      { keys: [{ ...publicKeyOf(createSigningKey(known.kid)), use: 'enc' }] },
    ],
  ])('keeps the known keys when the issuer sends a set that is %s', async (_, damaged) => {
    start();
    await authenticate(token());
    keySet = damaged as typeof keySet;

    const stranger = authenticate(token({}, createSigningKey('new')));
    await expect(stranger).rejects.toMatchObject({ code: 'unavailable' });
    expect(await authenticate(token())).toMatchObject({ userId: 'olga' });
  });

  test.each([
    [14, 'olga'],
    [15, 'unavailable'],
    [59, 'unavailable'],
    [60, 'unauthorized'],
  ])('of a key that a set has lacked for %i minutes verifies, or answers %s', async (minutes, expected) => {
    const began = now * 1000;
    stopDate(began);
    start();
    await authenticate(token());
    keySet.keys = [publicKeyOf(createSigningKey('another'))];
    const lasting = token({ exp: now + 40_000 });
    for (const at of [0, minutes]) {
      stopDate(began + 36_000_000 + at * 60_000 - 1);
      await authenticate(token({}, createSigningKey('made up'))).catch(() => {});
    }

    const found = authenticate(lasting).then((caller) => caller?.userId);
    expect(await found.catch(({ code }) => code)).toBe(expected);
  });

  test('verifies with a deployed key set without a fetch', async () => {
    start({ TOKEN_KEY_SET: JSON.stringify({ keys: [publicKeyOf(known)] }) });

    expect(await authenticate(token())).toMatchObject({ userId: 'olga' });
    expect(fetches).toBe(0);
  });

  test('fetches the key set again ten seconds after the issuer was down, and then rejects an unknown key', async () => {
    start();
    isDown = true;
    const began = now * 1000;
    stopDate(began);
    await expect(authenticate(token())).rejects.toMatchObject({ code: 'unavailable' });
    isDown = false;
    stopDate(began + 9999);
    await expect(authenticate(token())).rejects.toMatchObject({ code: 'unavailable' });
    expect(fetches).toBe(1);
    stopDate(began + 10_000);

    expect(await authenticate(token())).toMatchObject({ userId: 'olga' });
    for (let count = 0; count < 2; count += 1) {
      const stranger = authenticate(token({}, createSigningKey('stranger')));
      await expect(stranger).rejects.toMatchObject({ code: 'unauthorized' });
    }
    expect(fetches).toBe(3);
  });

  test.each([
    [1_000_000, 'taken'],
    [1_000_001, 'unavailable'],
  ])('of %i bytes is %s', async (bytes, expected) => {
    Object.assign(keySet, { padding: '' });
    Object.assign(keySet, { padding: 'x'.repeat(bytes - JSON.stringify(keySet).length) });
    start();
    const found = authenticate(token()).then(() => 'taken');

    expect(await found.catch(({ code }) => code)).toBe(expected);
  });

  test('gives up after three seconds without a response', async () => {
    const silent = await startSilentServer();
    start({ TOKEN_KEY_SET_URL: silent.url });
    const { error, ms } = await outwait(silent, () => authenticate(token()), { leapMs: 2900, maxMs: 9000 });

    expect([silent.asked, error]).toEqual([1, expect.objectContaining({ code: 'unavailable' })]);
    expect(ms).toBeGreaterThanOrEqual(3000);
    expect(ms).toBeLessThan(3500);
  });
});
