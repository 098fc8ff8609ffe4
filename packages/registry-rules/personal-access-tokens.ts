import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * A personal access token is `nrp_`, 32 random characters and 6 characters of checksum. The prefix lets secret scanners
 * find a leaked token, and the checksum rejects a mistyped one without reading the store. 32 characters out of 62 are
 * 190 random bits. Only the SHA-256 is stored.
 */
const prefix = 'nrp_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 32;
const checksumLength = 6;

export function createPersonalAccessToken(): string {
  return createSecret(prefix);
}

/** A secret of the same form under another prefix. */
export function createSecret(prefix: string): string {
  let secret = '';
  while (secret.length < secretLength) {
    // Bytes past the last whole run of the alphabet are skipped. Otherwise some characters would be likelier.
    secret += [...randomBytes(64)]
      .filter((byte) => byte < 248)
      .map((byte) => alphabet[byte % 62])
      .join('');
  }
  secret = secret.slice(0, secretLength);
  return prefix + secret + checksum(secret);
}

export function isWellFormed(token: string): boolean {
  return isSecret(token, prefix);
}

/** Whether a text may be one of `createSecret`. */
export function isSecret(token: string, start: string): boolean {
  const secret = token.slice(start.length, start.length + secretLength);
  return (
    token.startsWith(start) &&
    /^[0-9A-Za-z]{38}$/.test(token.slice(start.length)) &&
    token.endsWith(checksum(secret))
  );
}

/** The hash that a token is stored under. */
export function hashPersonalAccessToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function checksum(secret: string): string {
  let rest = crc32(secret);
  let digits = '';
  while (digits.length < checksumLength) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
