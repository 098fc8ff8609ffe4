'use strict';
// Loaded before a tool starts (node -r). CommonJS and old syntax, so that every Node can show its message:
// older ones can't read the tools themselves, which are TypeScript.

const { existsSync } = require('node:fs');
const { join } = require('node:path');

const minNode = 24;
const installed = existsSync(join(__dirname, '../../node_modules/.package-lock.json'));
const isTooOld = Number(process.versions.node.split('.')[0]) < minNode;

if (!installed || isTooOld) {
  const remedy = installed
    ? `This needs Node ${minNode}, and this is Node ${process.versions.node}. The npm scripts use the one in node_modules: run npm ci without --ignore-scripts, then try again.`
    : 'The packages are not installed yet: run npm ci, then try again.';
  process.stderr.write(`${remedy}\n`);
  process.exit(1);
}

// The next start neither strips types nor compiles again: 20 MB less for the local stack.
require('node:module').enableCompileCache();
