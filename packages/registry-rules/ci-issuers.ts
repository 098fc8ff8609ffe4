/** The issuers of ID tokens that every registry knows, by the names that people give them. */
export const ciIssuers = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
} as const;

/** The URL of an issuer, from its name or its URL. */
export function issuerNamed(name: string): string {
  return Object.hasOwn(ciIssuers, name) ? ciIssuers[name as keyof typeof ciIssuers] : name;
}
