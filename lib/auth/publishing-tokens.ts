import type { CiJob } from './ci-claims.ts';

/**
 * The CI job that publishes, if the token is an ID token: it has two dots, and a personal access token has none. Its
 * verifier is loaded on demand, because most cold starts get a personal access token.
 */
export async function ciJobOf(token: string): Promise<CiJob | undefined> {
  if (token.split('.', 4).length !== 3) return undefined;
  const { verifyCiToken } = await import('./trusted-publishers.ts');
  return verifyCiToken(token);
}
