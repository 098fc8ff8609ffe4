import { expect, test } from '@jest/globals';
import { issueToken, type SigningKey, signClaims } from '../../../tools/local/issuer.ts';
import { invoke, sampleBody } from '../../support/invoke.ts';
import { acceptedTasks, proxies } from '../../support/proxies.ts';
import { accountOf, spender } from '../../support/spending.ts';
import { setVariables } from '../../support/variables.ts';

const key: SigningKey = JSON.parse(String(process.env.TEST_SIGNING_KEY));

/** A token of the user with a further claim. */
function bearerWith(user: string, claims: object): string {
  const [, payload = ''] = issueToken(key, { user }).split('.');
  return `Bearer ${signClaims(key, { ...JSON.parse(String(Buffer.from(payload, 'base64url'))), ...claims })}`;
}

const image = `upload:${'a'.repeat(64)}:9`;

test.each<[access: string | undefined, claims: object, isListed: boolean, status: number]>([
  [undefined, {}, false, 200],
  ['any', {}, false, 200],
  ['none', { plan: 'team' }, true, 403],
  ['claim', {}, true, 403],
  ['claim', { plan: 'TEAM' }, false, 403],
  ['claim', { plan: ['free', 'team'] }, false, 200],
  ['listed', { plan: 'team' }, false, 403],
  ['listed', {}, true, 200],
])('proxyAccess %s with the claims %j, listed: %s, answers %d', async (access, claims, isListed, status) => {
  setVariables({ PROXY_ACCESS: access, ...(access === 'claim' && { PROXY_CLAIM: 'plan=team' }) });
  const user = await spender(isListed ? { credits_per_day: 1000 } : {});
  const headers = { authorization: bearerWith(user, claims) };
  const sold = acceptedTasks();
  const asked = [
    await invoke(proxies['text-to-video'], 'text-to-video', { headers }),
    await invoke(proxies['relight-image'], 'relight-image', {
      headers,
      body: { ...sampleBody('relight-image'), image },
    }),
  ];

  const isOpen = status === 200;
  expect(asked.map((each) => each.status)).toEqual([status, isOpen ? 409 : 403]);
  if (!isOpen) expect(asked.map(({ body }) => body.error)).toEqual(['forbidden', 'forbidden']);
  expect(acceptedTasks() - sold).toBe(isOpen ? 1 : 0);
  expect((await accountOf(user))?.open ?? 0).toBe(0);
});
