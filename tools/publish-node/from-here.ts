// npm run publish-node -- …: npm starts it in the repository, and the person stands in another folder.
import { run } from './program.ts';

process.chdir(process.env.INIT_CWD ?? '.');
process.exitCode = await run(process.argv.slice(2));
