import type { CredentialRecord, TokenRecord } from '../../../lib/registry/records.ts';
import { createToken, listTokens, revokeToken } from '../../../lib/registry/tokens.ts';
import { command, UsageError } from '../command.ts';
import { newContext, readPublisher } from '../registry/administration.ts';
import { fieldsOf, tableOf } from '../view.ts';

const dayMs = 24 * 60 * 60 * 1000;
const defaultDays = '365';
const maxDays = 3650;

export const create = command({
  parameters: ['publisher'],
  summary: 'Create a personal access token for publishing',
  notes:
    'The token is shown only once, because only its hash is stored. Anyone who has it and an access token of a member\ncan publish versions of the publisher, so treat it as a secret.',
  options: {
    label: { value: 'TEXT', about: 'What the token is for', required: true },
    days: { value: 'N', about: `How many days it is valid, 1 to ${maxDays}; ${defaultDays} by default` },
  },
  tellsOwners: true,
  examples: ['token create acme --label "release job"', 'token create acme --label "try-out" --days 7'],
  async run({ publisher: publisherId }, { label, days = defaultDays }, { actor }) {
    if (!/^\d{1,4}$/.test(days) || Number(days) < 1 || Number(days) > maxDays)
      throw new UsageError(`--days takes a whole number from 1 to ${maxDays}.`);
    const expires_at = new Date(Date.now() + Number(days) * dayMs).toISOString();
    const { record, token } = await createToken(newContext(), actor, { publisherId, label, expires_at });
    const data = { token, ...shown(record) };
    return { data, text: `${fieldsOf(data)}\n\nStore it now: it is not shown again.` };
  },
});

export const list = command({
  parameters: ['publisher'],
  summary: 'List the personal access tokens, without the tokens themselves',
  readsOnly: true,
  examples: ['token list acme'],
  async run({ publisher: publisherId }) {
    await readPublisher(publisherId);
    const tokens = await listTokens(newContext(), publisherId);
    const data = tokens.map((token) => ({ ...shown(token), state: tokenState(token) }));
    const columns = ['id', 'label', 'state', 'created_at', 'expires_at', 'last_used_at'];
    return { data, text: tableOf(data, `"${publisherId}" has no tokens.`, columns) };
  },
});

export const revoke = command({
  parameters: ['publisher', 'token-id'],
  summary: 'Revoke a personal access token permanently',
  notes: 'Take the id from token list. It works at once: the next publish with the token is rejected.',
  tellsOwners: true,
  examples: ['token revoke acme 0d5f6c8e-0b7e-4c4e-9d53-0f6b1a0c9b52'],
  async impact({ publisher, 'token-id': id }) {
    const token = (await listTokens(newContext(), publisher)).find((each) => each.id === id);
    return token
      ? `permanently revokes the token "${token.label}", last used ${token.last_used_at ?? 'never'}`
      : 'revokes a token that does not exist';
  },
  async run({ publisher: publisherId, 'token-id': id }, _, { actor }) {
    const { result: since } = await revokeToken(newContext(), actor, publisherId, id);
    return { data: { id, revoked_at: since }, text: `The token ${id} has been revoked since ${since}.` };
  },
});

/** Without its secrets: neither the token nor its hash. */
export function shown<Record extends CredentialRecord>({ pk: _, sk: __, revision: ___, ...record }: Record) {
  return record;
}

function tokenState({ revoked_at, expires_at }: TokenRecord): string {
  if (revoked_at) return 'revoked';
  return expires_at <= new Date().toISOString() ? 'expired' : 'active';
}
