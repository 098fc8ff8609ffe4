// npm run token -- --user NAME [--admin] [--hours N]
import { parseArgs } from 'node:util';
import { localDirectory } from './addresses.ts';
import { issueToken, loadSigningKey } from './issuer.ts';

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
if (options) process.stdout.write(`${issueToken(await loadSigningKey(localDirectory), options)}\n`);

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
  process.stderr.write(`${sentence} See npm run token -- --help\n`);
  process.exitCode = 2;
}
