import type { StoredSecret } from '../aws/stored-secret.ts';

/** Everything that makes one provider different from another: a third one is one more of these. */
export interface Provider {
  name: string;
  url: string;
  key: StoredSecret;
  keyHeader: string;
  keyScheme: string;
  /** Whether its replies repeat what was sent, and so may be as large as the request. */
  echoesRequest: boolean;
}

/** A task that a provider started, and the price if the provider names one. */
export interface BoughtTask {
  taskId: string;
  credits?: number | undefined;
}
