import { readdirSync, readFileSync } from 'node:fs';

/** A package from npm of which a bundle contains a part. */
export interface BundledPackage {
  name: string;
  version: string;
  license: string;
  /** The texts of its license and notices; these must go with copies. */
  notices: string[];
}

/** The part of esbuild's metafile that says what an output contains. */
export interface Metafile {
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
}

/** The packages in outputs whose path the filter accepts, by name. */
export function packagesIn(
  { outputs }: Metafile,
  isMeant: (path: string) => boolean = () => true,
): BundledPackage[] {
  const meant = Object.entries(outputs).filter(([path]) => isMeant(path));
  const inputs = meant.flatMap(([, output]) => Object.entries(output.inputs));
  const folders = inputs.flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput === 0 ? [] : (/^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []),
  );
  return [...new Set(folders)]
    .map(read)
    .sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}

function read(folder: string): BundledPackage {
  const { name, version, license = 'unknown' } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i.test(file));
  const notices = files.sort().map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim());
  return { name, version, license, notices };
}

/** A bill of materials in the format of CycloneDX, the same for the same packages. */
export function billOf(
  { name, version }: Pick<BundledPackage, 'name' | 'version'>,
  packages: readonly BundledPackage[],
): string {
  const components = packages.map((it) => ({
    type: 'library',
    name: it.name,
    version: it.version,
    licenses: [/[ (]/.test(it.license) ? { expression: it.license } : { license: { name: it.license } }],
    purl: `pkg:npm/${it.name.replace('@', '%40')}@${it.version}`,
  }));
  const metadata = { component: { type: 'application', name, version } };
  const bill = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata, components };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** The licenses of the packages, to be distributed with a bundle. Equal texts are printed once. */
export function noticesOf(packages: readonly BundledPackage[]): string {
  const texts = new Map<string, string[]>();
  for (const { name, version, license, notices } of packages) {
    const text = notices.join('\n\n') || `License: ${license}`;
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...texts].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return parts.join(`\n${'-'.repeat(78)}\n\n`);
}
