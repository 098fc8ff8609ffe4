// npm run admin -- <noun> <verb> ...
import { chooseTarget } from './target.ts';

/*
 * The registry's modules read the environment when they are imported, so the target is chosen before anything
 * that imports them. From here on nothing else depends on that order.
 */
const args = process.argv.slice(2);
chooseTarget(args);
const { runCommandLine } = await import('./command-line.ts');
const { status, stdout, stderr } = await runCommandLine(args);
process.stderr.write(stderr);
process.stdout.write(stdout);
process.exitCode = status;
