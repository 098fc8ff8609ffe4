import { readFile } from 'node:fs/promises';
import developmentKey from '../local/development-key.json' with { type: 'json' };
import { startDynamoDb } from '../local/dynamodb.ts';
import { startParts } from '../local/parts.ts';

export interface Servers {
  environment: Record<string, string>;
  stop: () => Promise<void>;
}

/** The embedded servers with the demo publisher, and the environment that points functions to them. */
export async function startServers(): Promise<Servers> {
  const names = { tableName: 'node-registry-bench', bucketName: 'archives' };
  const parts = await startParts({ dynamodb: startDynamoDb(), ...names, tickMs: 2000 });
  // By its number, like the embedded servers: looking up `localhost` and trying IPv6 first costs time.
  const providers = parts.simulators.url.replace('localhost', '127.0.0.1');
  const environment = {
    ...parts.environment,
    PATH: String(process.env.PATH),
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    // As for earlier figures; a relayed call writes one record more.
    NOTIFICATIONS: 'direct',
    TOKEN_KEY_SET: JSON.stringify({ keys: [developmentKey] }),
    IMAGE_PROVIDER_URL: `${providers}/image`,
    VIDEO_PROVIDER_URL: `${providers}/video`,
  };
  Object.assign(process.env, environment);
  const { seed } = await import('../local/seed.ts');
  await seed();
  return { environment, stop: parts.stop };
}

export async function readEvent(name: string): Promise<{ body: string; [field: string]: unknown }> {
  return JSON.parse(await readFile(`events/${name}.json`, 'utf8'));
}
