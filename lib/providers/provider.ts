import type { JsonObject } from '../json.ts';
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

/** A task with the reply that names it, and the credits that are counted if that names no price. */
export interface StartedTask {
  task: BoughtTask;
  reply: JsonObject;
  ceiling?: number | undefined;
}
