import { InvalidArgumentError } from 'commander';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { localAddress, ports } from './addresses.ts';
import { fetchSigningKey, issueCiToken, issueToken } from './issuer.ts';

interface Options {
  user?: string;
  admin?: boolean;
  ci?: string;
  workflow: string;
}

const command = createCommand({
  name: 'npm run token --',
  summary:
    'Prints an access token of the local issuer, or the ID token of a CI job, for calls to the local stack',
  notes:
    'An ID token publishes once, within ten minutes, for a publisher that trusts the job and its issuer, http://localhost:3001/ci: see npm run admin -- trust add --help.',
  examples: ['--user demo-owner', '--user root --admin', '--ci octo/nodes --workflow release.yml'],
})
  .option('--user <NAME>', 'The user; the demo publisher has demo-owner and demo-member')
  .option('--admin', 'Allow what only admins may do')
  .option('--ci <OWNER/REPOSITORY>', 'Instead of a user: the repository of a CI job', repositoryName)
  .option('--workflow <FILE>', 'The workflow file of that job', 'release.yml')
  .action(async ({ user, admin = false, ci, workflow }: Options) => {
    if ((user === undefined) === (ci === undefined))
      command.error('Give either --user for a person, or --ci for a job.');
    const key = await fetchSigningKey();
    if (!key)
      throw new Error(
        `No local stack runs on ${localAddress(ports.api)}: start it with npm start, or set its LOCAL_PORT_OFFSET.`,
      );
    const token =
      ci === undefined
        ? issueToken(key, { user: String(user), admin })
        : issueCiToken(key, { repository: ci, workflow });
    process.stdout.write(`${token}\n`);
  });

await runProgram(command);

function repositoryName(text: string): string {
  if (/^[\w.-]+\/[\w.-]+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be an owner and a repository, such as octo/nodes.');
}
