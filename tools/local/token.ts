import { createCommand, runCommand, wholeNumber } from '../command-line/command.ts';
import { localAddress, localDirectory, localEnvironment, ports } from './addresses.ts';
import { issueToken, readSigningKey, type SigningKey } from './issuer.ts';

interface Options {
  user: string;
  admin?: boolean;
  hours: number;
}

const command = createCommand({
  name: 'npm run token --',
  summary: 'Prints an access token of the local issuer, for calls to the local stack',
  examples: ['--user demo-owner', '--user root --admin --hours 1'],
})
  .requiredOption('--user <NAME>', 'The user; the demo publisher has demo-owner and demo-member')
  .option('--admin', 'Allow what only admins may do')
  .option('--hours <N>', 'How long it works, 1 to 8760 hours', wholeNumber(1, 8760), 12)
  .action(async ({ user, admin = false, hours }: Options) => {
    const key = await findKey();
    if (key) {
      process.stdout.write(`${issueToken(key, { user, admin, expiresInSeconds: hours * 3600 })}\n`);
      return;
    }
    const place = `${localAddress(ports.api)} over ${localDirectory}`;
    process.stderr.write(`No local stack runs on ${place}: start it with npm start.\n`);
    process.exitCode = 1;
  });

const status = await runCommand(command, process.argv.slice(2));
process.exitCode ||= status;

/** The key of the stack that runs, so that a token which is printed also works. */
async function findKey(): Promise<SigningKey | undefined> {
  const key = await readSigningKey(localDirectory);
  const published = await fetch(localEnvironment.TOKEN_JWKS_URL).then(
    (response) => response.json() as Promise<{ keys: { kid: string }[] }>,
    () => ({ keys: [] }),
  );
  return published.keys.some(({ kid }) => kid === key?.kid) ? key : undefined;
}
