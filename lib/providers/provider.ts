import type { ErrorDetail } from '../errors.ts';
import type { ProviderKey } from './provider-key.ts';

export type JsonObject = Record<string, unknown>;

/** What a provider says about a request that it did not take. The texts are its own, as they came. */
interface ProviderFault {
  text?: unknown;
  details?: ErrorDetail[];
  isOutOfCredits?: boolean;
}

/** All that sets one provider apart from another: a third one is one more of these, and its variables. */
export interface Provider {
  name: string;
  url: string;
  key: ProviderKey;
  keyHeader: string;
  keyScheme: string;
  /** Whether its replies repeat what was sent, and so may be as large as the request. */
  echoesRequest: boolean;
  readFault: (body: JsonObject) => ProviderFault;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
