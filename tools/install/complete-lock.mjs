// Run from the project’s root after `npm install`: node tools/install/complete-lock.mjs
// Adds lock entries for optional packages of other platforms that the registry used here does not offer, so that
// `npm ci` accepts the lock everywhere, gives each entry without a digest the one that the registry names, if it does,
// and drops `engines` entries that would only warn about the Node that runs npm.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** The registry's digest of a package; undefined if it does not have the package. */
function digestOf(name, version) {
  try {
    return (
      execFileSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], {
        stdio: ['ignore', 'pipe', 'ignore'],
        timeout: 20_000,
      })
        .toString()
        .trim() || undefined
    );
  } catch {
    return undefined;
  }
}

const OS = new Set('aix android darwin freebsd linux netbsd openbsd openharmony sunos win32'.split(' '));
const CPU = new Set('arm arm64 ia32 loong64 mips64el ppc64 riscv64 s390x wasm32 x64'.split(' '));
const LIBC = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' };

for (const file of process.argv.length > 2 ? process.argv.slice(2) : ['package-lock.json']) {
  const text = readFileSync(file, 'utf8');
  const lock = JSON.parse(text);
  const { packages } = lock;
  for (const [parent, entry] of Object.entries({ ...packages })) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const folders = parent.split(/(?<=node_modules\/(?:@[^/]+\/)?[^/]+)\//);
      const places = folders.map((_, i) => `${folders.slice(0, i + 1).join('/')}/node_modules/${name}`);
      if ([`node_modules/${name}`, ...places].some((path) => path in packages)) continue;
      const words = name
        .slice(name.lastIndexOf('/') + 1)
        .replace('windows', 'win32')
        .split('-');
      const os = words.filter((w) => OS.has(w));
      const cpu = words.filter((w) => CPU.has(w));
      const libc = words.flatMap((w) => LIBC[w] ?? []);
      if (os.length === 0 || cpu.length === 0)
        throw new Error(`${name}: its name does not say for which platform it is`);
      packages[`node_modules/${name}`] = {
        version,
        cpu,
        ...(entry.dev && { dev: true }),
        ...(libc.length > 0 && { libc }),
        optional: true,
        os,
      };
    }
    if (parent !== '' && entry.engines?.node) {
      delete entry.engines.node;
      if (Object.keys(entry.engines).length === 0) delete entry.engines;
    }
  }
  const unknown = [];
  for (const [path, entry] of Object.entries(packages)) {
    if (!path.includes('node_modules/') || entry.link || entry.integrity || !entry.version) continue;
    const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const integrity = digestOf(name, entry.version);
    if (integrity) packages[path] = { version: entry.version, integrity, ...entry };
    else unknown.push(`${name}@${entry.version}`);
  }
  if (unknown.length > 0) console.log(`The registry has no digest of ${unknown.join(', ')}.`);
  lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
  const completed = `${JSON.stringify(lock, null, 2)}\n`;
  if (completed !== text) writeFileSync(file, completed);
  console.log(`${file} ${completed === text ? 'is complete' : 'has been completed'}.`);
}
