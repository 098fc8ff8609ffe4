/** The apparent folder of the host. Nothing is ever read there, and a text with this path is unknown. */
export const hostFolder = '/folder-of-the-host';

const customNodes = `${hostFolder}/custom_nodes`;

/** The pack's files by their path from its root; the content is undefined if a file isn't text. */
export type Files = ReadonlyMap<string, string | undefined>;

/** The pack's folder, with the files that it writes during evaluation kept in memory. */
export class FileTree {
  /** The pack's folder as `__file__` shows it. */
  readonly root: string;
  readonly name: string;
  readonly #files: Map<string, string | undefined>;
  readonly #folders = new Map<string, Set<string>>();

  constructor(files: Files, name: string) {
    this.name = name;
    this.root = `${customNodes}/${name}`;
    this.#files = new Map();
    this.#folders.set('', new Set());
    for (const [path, text] of fromRoot(files)) this.write(path, text);
  }

  /** The path from the pack's root; undefined if it leads outside. */
  inside(path: string): string | undefined {
    const whole = normalize(path);
    if (whole === this.root) return '';
    return whole.startsWith(`${this.root}/`) ? whole.slice(this.root.length + 1) : undefined;
  }

  isFile(path: string): boolean {
    return this.#files.has(path);
  }

  isFolder(path: string): boolean {
    return this.#folders.has(path);
  }

  read(path: string): string | undefined {
    return this.#files.get(path);
  }

  /** All code of the pack, imported or not. */
  *code(): Generator<[file: string, text: string]> {
    for (const [path, text] of this.#files)
      if (text !== undefined && path.endsWith('.py')) yield [path, text];
  }

  /** The files that name packages: a pack may install those of a folder of its own by itself. */
  declarations(): string[] {
    const isOne = /^(?:pyproject\.toml|setup\.(?:py|cfg)|(?:.*\/)?requirements[\w.-]*\.txt)$/;
    return [...this.#files].flatMap(([path, text = '']) => (isOne.test(path) ? [text] : []));
  }

  list(path: string): string[] {
    return [...(this.#folders.get(path) ?? [])];
  }

  makeFolder(path: string): void {
    const parts = path.split('/');
    for (const [index, part] of parts.entries()) {
      const parent = parts.slice(0, index).join('/');
      this.#folders.get(parent)?.add(part);
      const whole = parts.slice(0, index + 1).join('/');
      if (!this.#folders.has(whole)) this.#folders.set(whole, new Set());
    }
  }

  write(path: string, text: string | undefined): void {
    const slash = path.lastIndexOf('/');
    const folder = slash < 0 ? '' : path.slice(0, slash);
    if (folder !== '') this.makeFolder(folder);
    this.#folders.get(folder)?.add(path.slice(slash + 1));
    this.#files.set(path, text);
  }
}

/** Archives often hold everything in one folder; that folder is the root if it is the package. */
function fromRoot(files: Files): [string, string | undefined][] {
  const entries = [...files];
  if (files.has('__init__.py')) return entries;
  const tops = new Set(entries.map(([path]) => path.slice(0, path.indexOf('/') + 1)));
  const [top = ''] = tops;
  if (tops.size !== 1 || !files.has(`${top}__init__.py`)) return entries;
  return entries.map(([path, text]) => [path.slice(top.length), text]);
}

/** An absolute path without `.`, `..` and doubled slashes. */
export function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part === '..' && path.startsWith('/')) continue;
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return (path.startsWith('/') ? '/' : '') + parts.join('/') || '.';
}
