// npm run token -- --user NAME [--admin] [--hours N]
import { parseArgs } from 'node:util';
import { localAddress, localDirectory, localEnvironment, ports } from './addresses.ts';
import { issueToken, readSigningKey, type SigningKey } from './issuer.ts';

const helpText = `Prints an access token of the local issuer, for calls to the local stack.

Usage: npm run token -- --user NAME [--admin] [--hours N]

  --user NAME  Whom the token is for; the demo publisher has demo-owner and demo-member
  --admin      Let it do what only admins may
  --hours N    How long it works, 1 to 8760 hours; 12 unless you say

Examples
  npm run token -- --user demo-owner
  npm run --silent token -- --user root --admin --hours 1
`;

const longestHours = 8760;

const options = readOptions();
if (options) {
  const key = await findKey();
  if (key) process.stdout.write(`${issueToken(key, options)}\n`);
  else
    fail(
      1,
      `No local stack runs on ${localAddress(ports.api)} over ${localDirectory}: start it with npm start.`,
    );
}

/** The key of the stack that runs, so that a token which is printed also works. */
async function findKey(): Promise<SigningKey | undefined> {
  const key = await readSigningKey(localDirectory);
  const published = await fetch(localEnvironment.TOKEN_JWKS_URL).then(
    (response) => response.json() as Promise<{ keys: { kid: string }[] }>,
    () => ({ keys: [] }),
  );
  return published.keys.some(({ kid }) => kid === key?.kid) ? key : undefined;
}

function readOptions() {
  try {
    const { user, admin = false, hours, help } = parseOptions();
    if (help) process.stdout.write(helpText);
    else if (!user) refuse('Say whom the token is for, such as --user demo-owner.');
    else if (!/^\d{1,4}$/.test(hours) || Number(hours) < 1 || Number(hours) > longestHours)
      refuse(`--hours takes a whole number from 1 to ${longestHours}.`);
    else return { user, admin, expiresInSeconds: Number(hours) * 3600 };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    refuse(`${error.message.split(/\n|\. /)[0]}.`);
  }
  return undefined;
}

function parseOptions() {
  const { values } = parseArgs({
    options: {
      user: { type: 'string' },
      admin: { type: 'boolean' },
      hours: { type: 'string', default: '12' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  return values;
}

function refuse(sentence: string): void {
  fail(2, `${sentence} See npm run token -- --help`);
}

function fail(exitCode: number, sentence: string): void {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = exitCode;
}
