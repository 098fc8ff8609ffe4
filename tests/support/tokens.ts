import { issueToken, type SigningKey } from '../../tools/local/issuer.ts';

/** The key that the test run's issuer publishes. */
export const signingKey: SigningKey = JSON.parse(String(process.env.TEST_SIGNING_KEY));

export function bearer(user: string, options: { admin?: boolean; expiresInSeconds?: number } = {}): string {
  return `Bearer ${issueToken(signingKey, { user, ...options })}`;
}
