import { expect, test } from '@jest/globals';
import { credentialKey } from '../../../lib/registry/upload-state.ts';
import type { NodeVersionRecord } from '../../../lib/registry/records.ts';
import { personalAccessTokenKey, trustKey } from '../../../lib/store/keys.ts';

test('records the token or the trust that a version was published with', () => {
  const version = { publisher_id: 'acme', token_hash: 'a hash' } as NodeVersionRecord;

  expect(credentialKey(version)).toEqual(personalAccessTokenKey('acme', 'a hash'));
  expect(credentialKey({ ...version, trust_id: 'a trust' })).toEqual(trustKey('acme', 'a trust'));
});
