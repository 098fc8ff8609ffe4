import { readFile, writeFile } from 'node:fs/promises';
import semver from 'semver';

/**
 * Completes package-lock.json after `npm install`, so that `npm ci` works on every machine and without a warning:
 *
 * - Where the registry does not offer the packages of other platforms, npm leaves them out of the lock, and then
 *   `npm ci` rejects it. Each gets an entry with the platform that its name states; npm skips it elsewhere.
 * - npm compares the Node that a package needs with the Node that runs npm. Ours run on the Node that is installed
 *   with them. An `engines` entry that this Node meets, but not every Node of our own `engines`, is removed.
 */

export interface LockedPackage {
  version?: string;
  integrity?: string;
  license?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  engines?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export interface LockFile {
  packages: Record<string, LockedPackage>;
}

/** One for what everyone installs, and one for each tool that few people run. */
export const lockFiles = [
  'package-lock.json',
  'tools/bench/frameworks/package-lock.json',
  'tools/mutate/package-lock.json',
];

interface Missing {
  name: string;
  version: string;
  /** The path of the package that needs it. */
  parent: string;
}

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const processors = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];
const libraries: Record<string, string> = {
  gnu: 'glibc',
  gnueabihf: 'glibc',
  musl: 'musl',
  musleabihf: 'musl',
};

/** The optional dependencies for which the lock has no entry. */
export function missingPackages({ packages }: LockFile): Missing[] {
  return Object.entries(packages).flatMap(([parent, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !foldersAbove(parent).some((folder) => `${folder}node_modules/${name}` in packages))
      .map(([name, version]) => ({ name, version, parent })),
  );
}

/** Where Node looks for a package: next to the one that asks, then in every folder above it. */
function foldersAbove(path: string): string[] {
  const ends = [...path.matchAll(/(?<=^|\/)node_modules\//g)].map(({ index }) => index);
  return [`${path}/`, ...ends.reverse().map((end) => path.slice(0, end)), ''];
}

export function completeLock<Lock extends LockFile>(lock: Lock): Lock {
  const packages = { ...lock.packages };
  for (const { name, version, parent } of missingPackages(lock)) {
    const { os, cpu, libc } = platformOf(name);
    // In the order of npm, so that the next install changes nothing.
    packages[`node_modules/${name}`] = {
      version,
      cpu,
      ...(packages[parent]?.dev && { dev: true }),
      ...(libc.length > 0 && { libc }),
      optional: true,
      os,
    };
  }
  const completed = Object.entries(packages).map(([path, entry]) => [path, relaxed(path, entry, packages)]);
  return { ...lock, packages: Object.fromEntries(completed.sort(byPath)) };
}

function platformOf(name: string): { os: string[]; cpu: string[]; libc: string[] } {
  const words = name.slice(name.lastIndexOf('/') + 1).split('-');
  const os = words.filter((word) => systems.includes(word));
  const cpu = words.filter((word) => processors.includes(word));
  const libc = words.flatMap((word) => libraries[word] ?? []);
  if (os.length === 0 || cpu.length === 0)
    throw new Error(
      `The lock file has no entry for ${name}, and its name does not say for which platform it is.`,
    );
  return { os, cpu, libc };
}

function relaxed(path: string, entry: LockedPackage, packages: LockFile['packages']): LockedPackage {
  const { engines: { node: range, ...otherEngines } = {}, ...rest } = entry;
  const allowed = packages['']?.engines?.node;
  if (range === undefined || allowed === undefined || semver.subset(allowed, range)) return entry;
  const installed = packages['node_modules/node']?.version ?? '0.0.0';
  if (!semver.satisfies(installed, range))
    throw new Error(`${path} needs Node ${range}, but ${installed} is installed.`);
  return { ...rest, ...(Object.keys(otherEngines).length > 0 && { engines: otherEngines }) };
}

/** In the order of npm. */
function byPath([a]: unknown[], [b]: unknown[]): number {
  return String(a).localeCompare(String(b), 'en');
}

if (import.meta.main) {
  for (const file of lockFiles) {
    const text = await readFile(file, 'utf8');
    const completed = `${JSON.stringify(completeLock(JSON.parse(text)), null, 2)}\n`;
    if (completed !== text) await writeFile(file, completed);
    process.stdout.write(`${file} ${completed === text ? 'is complete' : 'has been completed'}.\n`);
  }
}
