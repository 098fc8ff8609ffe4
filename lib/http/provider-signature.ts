import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from '../context.ts';
import { storedSecret } from '../aws/stored-secret.ts';

type Headers = Record<string, string | undefined>;

/** Whether a provider signed a body. Without a configured key, every body counts as signed. */
export type SignatureCheck = (context: Context, headers: Headers, body: Buffer) => Promise<boolean>;

/** Checks an HMAC-SHA256 of the body as it came, in hexadecimal digits, which some providers put `sha256=` before. */
export function signatureCheck(keyReference: string | undefined, header: string): SignatureCheck {
  if (keyReference === undefined) return async () => true;
  const key = storedSecret(keyReference);
  const name = header.toLowerCase();
  return async (context, headers, body) => {
    const expected = createHmac('sha256', await key.read(context))
      .update(body)
      .digest();
    const given = Buffer.from((headers[name] ?? '').replace(/^sha256=/, ''), 'hex');
    const isValid = given.length === expected.length && timingSafeEqual(given, expected);
    // The key may have been replaced in the meantime: the next call reads it again.
    if (!isValid) key.forget();
    return isValid;
  };
}
