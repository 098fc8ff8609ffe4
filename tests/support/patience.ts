import { dynamodb } from '../../lib/store/dynamodb.ts';

/*
 * An invocation on Lambda has a CPU. Here a crowd of them shares a part of one with the store, and may hear of an answer
 * seconds after it came. What the service does while the store is silent has tests of its own. The SDK never clears the
 * timer of a connection that was refused, so there is none.
 */
const { requestHandler } = dynamodb.config;
Object(requestHandler).updateHttpClientConfig('connectionTimeout', 0);
Object(requestHandler).updateHttpClientConfig('requestTimeout', 60_000);
