// node tools/launch.js FILE [ARGUMENTS]: runs one of the tools, or says in a sentence why it cannot.
// Plain JavaScript of any age: an older Node neither reads TypeScript nor gets further than this file.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const needed = 24;
const [, , file, ...args] = process.argv;

function stop(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
}

if (Number(process.versions.node.split('.')[0]) < needed) {
  stop(
    `This needs Node ${needed} and runs on ${process.versions.node}: npm install brings one along, for every npm run.`,
  );
} else {
  process.argv = [process.argv[0], resolve(file), ...args];
  import(pathToFileURL(resolve(file)).href).catch((error) => {
    const isMissing = error.code === 'ERR_MODULE_NOT_FOUND' && String(error.message).includes("package '");
    if (!isMissing) throw error;
    stop('The packages are not installed yet: run npm install first.');
  });
}
