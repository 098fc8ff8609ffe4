// The program of side.ts: the functions of one release, its administration, and the client that its callers have
import { inspect } from 'node:util';
import { pathToFileURL } from 'node:url';
import { asFunction, nameFunctions } from '../support/roles.ts';
import type { Call, Reply } from './side.ts';

nameFunctions();

async function run({ name, file, input, role }: Omit<Call, 'id'>): Promise<unknown> {
  // Signed URLs name the function too.
  process.env.AWS_ACCESS_KEY_ID = `LOCALACCESSKEY.${role}`;
  return asFunction(role, async () => {
    const module = await import(pathToFileURL(file).href);
    if (name === 'administration') return module.runCommandLine(input);
    if (name === 'client')
      return module.createPublicIndex({ downloadsUrl: process.env.DOWNLOAD_BASE_URL }).node(input);
    const context = { awsRequestId: 'an-invocation', getRemainingTimeInMillis: () => 29_000 };
    return module.handler(input, context);
  });
}

process.on('message', async ({ id, ...call }: Call) => {
  const reply: Omit<Reply, 'id'> = await run(call).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error: inspect(error) }),
  );
  process.send?.({ id, ...reply });
});

process.on('disconnect', () => process.exit());
