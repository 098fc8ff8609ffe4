/** What the local stack tells its studio. */
export interface StudioConfig {
  apiUrl: string;
  downloadsUrl: string;
  siteUrl: string;
  /** Tokens, keys and URLs to copy, by their names. The first is the token that the studio sends. */
  values: Record<string, string>;
  /** The request of each paid operation, as the OpenAPI document has it. */
  requests: Record<string, Schema>;
  paths: Record<string, string>;
  /** Words in a prompt that make the simulated provider go wrong, with their meanings. */
  failures: [word: string, meaning: string][];
  samplePicture: string;
}

export interface Schema {
  type?: string | string[];
  description?: string;
  enum?: (string | null)[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}
