/** A job of a CI, as a verified ID token describes it. */
export interface CiJob {
  issuer: string;
  /** The token's own id (`jti`), and when it expires, in seconds. */
  tokenId: string;
  expiresAt: number;
  repository: string;
  /** Ids that stay when a repository or its owner is renamed, and that a new one of the same name does not have. */
  repositoryId: string;
  ownerId: string;
  /** The file that defines the job, by the name that a trust has for it. */
  workflow: string;
  environment: string | undefined;
  ref: string;
  commit: string;
  run: string;
}
