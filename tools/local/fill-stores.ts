import { dynamodb as client } from '../../lib/store/dynamodb.ts';
import { upgradeTable } from '../admin/upgrade.ts';
import { localDirectory, tableName } from './addresses.ts';
import { seed } from './seed.ts';
import { createTable } from './table.ts';

/* A part of npm start: creates the table, or upgrades its data, and seeds the demo publisher. */

await createTable(String(process.env.AWS_ENDPOINT_URL_DYNAMODB), tableName);
// Does the work of `npm run admin -- upgrade`: here, nothing could serve the data meanwhile.
const { from, to } = await upgradeTable({ client, name: tableName }).catch((error: Error) => {
  process.stderr.write(`${error.message} To start without these data: npm start -- --fresh\n`);
  process.exit(1);
});
if (from !== to && from !== 'empty') say(`The data are upgraded from ${from} to ${to}.`);
say((await seed()) ? 'The demo publisher is seeded.' : `The data in ${localDirectory} is kept.`);

function say(sentence: string): void {
  process.stdout.write(`${sentence}\n`);
}
