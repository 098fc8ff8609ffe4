// npm run publish-node -- FOLDER ...
import { help, type Options, parseCommandLine } from './command-line.ts';
import { exitCodes, Failure } from './failure.ts';
import { megabytes, progressBar } from './progress-bar.ts';
import { readProject } from './project.ts';
import { publish } from './publish.ts';
import { zipFolder } from './zip-folder.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const say = (line: string) => process.stderr.write(`${line}\n`);

async function run({ folder, flags, timeoutMs, dryRun, ...access }: Options): Promise<void> {
  const project = await readProject(folder, flags);
  const { bytes, files } = await zipFolder(folder);
  say(`${files.length} files, ${megabytes(bytes.length)} zipped.`);
  if (dryRun) {
    for (const file of files) print(file);
    return;
  }
  const progress = progressBar(process.stderr, bytes.length);
  const { downloadUrl, sha256, wasThere } = await publish(access, project, bytes, timeoutMs, {
    say,
    progress,
  });
  print(`${project.node} ${project.version} ${wasThere ? 'was published already' : 'is published'}.`);
  print(`download  ${downloadUrl}`);
  print(`sha256    ${sha256}`);
}

try {
  const options = parseCommandLine(process.argv.slice(2), process.env);
  if (options) await run(options);
  else process.stdout.write(help);
  process.exitCode = exitCodes.published;
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  say(error.message);
  if (error.exitCode === exitCodes.usage) say('Run npm run publish-node -- --help to see how it is used.');
  process.exitCode = error.exitCode;
}
