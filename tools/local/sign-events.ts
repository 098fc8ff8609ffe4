import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { audience, issuerName } from './addresses.ts';
import { createSigningKey, publicKeyOf, signClaims } from './issuer.ts';

const command = createCommand({
  name: 'npm run sign-events --',
  summary: 'Signs the access tokens of the sample events again, for a hundred years',
  // So no other token can be signed with it.
  notes: 'The private key exists only while this runs.',
}).action(signEvents);

await runProgram(command);

async function signEvents(): Promise<void> {
  const key = createSigningKey('development');
  const centurySeconds = 100 * 365 * 24 * 60 * 60;
  const now = Math.floor(Date.now() / 1000);
  const token = signClaims(key, {
    iss: issuerName,
    aud: audience,
    sub: 'demo-owner',
    iat: now,
    exp: now + centurySeconds,
  });

  for (const name of await readdir('events')) {
    const file = `events/${name}`;
    const event = JSON.parse(await readFile(file, 'utf8'));
    if (event.headers?.authorization === undefined) continue;
    event.headers.authorization = `Bearer ${token}`;
    await writeFile(file, `${JSON.stringify(event, null, 2)}\n`);
  }
  await writeFile('tools/local/development-key.json', `${JSON.stringify(publicKeyOf(key), null, 2)}\n`);
}
