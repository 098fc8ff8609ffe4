import { dynamodb } from '../../lib/store/table.ts';

/*
 * An invocation on Lambda has a CPU. Here a crowd of them shares a part of one with the store, and may hear of an answer
 * seconds after it came. What the service does while the store is silent has tests of its own.
 */
for (const limit of ['connectionTimeout', 'requestTimeout'])
  Object(dynamodb.config.requestHandler).updateHttpClientConfig(limit, 60_000);
