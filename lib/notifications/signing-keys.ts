import { storedSecret } from '../aws/stored-secret.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { describeError, log } from '../log.ts';
import type { Condition } from '../store/items.ts';
import { signingKeysKey } from '../store/keys.ts';
import { update } from '../store/write.ts';
import type { SigningKeysRecord } from './records.ts';
import { readSigningKeys, type SigningKey } from './signature.ts';

const secret = config.atStart(
  config.configured(() => storedSecret(config.deliveries().NOTIFICATION_SIGNING_KEY)),
);

const maxAgeMs = 60_000;
let forgottenAt = Date.now();

/** The keys as they are stored: a replaced one counts within a minute, without a restart. */
export async function loadAndPublishSigningKeys(context: Context): Promise<SigningKey[]> {
  if (Date.now() - forgottenAt >= maxAgeMs) {
    forgottenAt = Date.now();
    secret().forget();
  }
  const keys = readSigningKeys(await secret().read(context));
  await publishKeys(context, keys);
  return keys;
}

let published: string | undefined;

/** Lets the administration return the public keys, without a right to read the private ones. */
async function publishKeys(context: Context, keys: readonly SigningKey[]): Promise<void> {
  const public_keys = keys.map(({ publicKey }) => publicKey).join(' ');
  if (public_keys === published) return;
  const changes = { public_keys, at: new Date().toISOString() };
  const isNew: Condition<SigningKeysRecord> = {
    anyOf: [[['pk', 'absent']], [['public_keys', '<>', public_keys]]],
  };
  try {
    await update<SigningKeysRecord>(context, signingKeysKey, changes, isNew);
    published = public_keys;
  } catch (error) {
    // The next run tries again; no notification waits for this.
    log('warn', 'signing_keys', describeError(error));
  }
}
