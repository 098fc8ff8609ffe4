import { OutsideModule, type Unknown } from '../values/plain.ts';

const library = named(`
  abc argparse array ast asyncio atexit base64 binascii bisect builtins bz2 cProfile calendar cmath cmd code
  codecs collections colorsys concurrent configparser contextlib contextvars copy copyreg csv ctypes
  dataclasses datetime decimal difflib dis distutils doctest email encodings enum errno faulthandler fcntl
  filecmp fileinput fnmatch fractions ftplib functools gc getopt getpass gettext glob graphlib grp gzip
  hashlib heapq hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools json keyword
  linecache locale logging lzma mailbox marshal math mimetypes mmap msvcrt multiprocessing ntpath numbers
  operator optparse os pathlib pdb pickle pkgutil platform plistlib poplib posixpath pprint profile pstats pty
  pwd pyexpat queue random re readline reprlib resource runpy sched secrets select selectors shelve shlex
  shutil signal site smtplib socket socketserver sqlite3 ssl stat statistics string struct subprocess sys
  sysconfig tarfile tempfile termios textwrap threading time timeit tkinter token tokenize tomllib trace
  traceback tracemalloc types typing unicodedata unittest urllib uuid venv warnings wave weakref webbrowser
  winreg winsound wsgiref xml xmlrpc zipfile zlib zoneinfo
`);

/** Packages that every host has: its own, those it requires, and those that these require. */
const required = named(`
  comfy comfy_api comfy_api_nodes comfy_config comfy_execution comfy_extras folder_paths nodes server
  execution node_helpers latent_preview app api_server utils torch torchsde torchvision torchaudio numpy
  einops transformers tokenizers sentencepiece safetensors aiohttp yarl yaml PIL scipy tqdm psutil alembic
  sqlalchemy av kornia spandrel pydantic pydantic_settings soundfile typing_extensions
  requests urllib3 certifi idna charset_normalizer huggingface_hub packaging filelock fsspec regex jinja2
  markupsafe networkx sympy mpmath multidict frozenlist aiosignal attr pkg_resources setuptools mako
`);

function named(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

function isLibrary(dotted: string): boolean {
  return library.has(dotted.split('.', 1)[0] ?? '');
}

export function isPresent(dotted: string): boolean {
  return isLibrary(dotted) || required.has(dotted.split('.', 1)[0] ?? '');
}

/** Packages whose import name differs from their installed name. */
const installedAs = new Map(
  Object.entries({
    bs4: 'beautifulsoup',
    cv2: 'opencv',
    skimage: 'scikitimage',
    sklearn: 'scikitlearn',
    fitz: 'pymupdf',
    pywt: 'pywavelets',
    Crypto: 'pycryptodome',
  }),
);

function spelled(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]/g, '');
}

/** Their names, and the last part of an address such as `git+https://host/owner/name.git@main`. */
export function declaredPackages(files: readonly string[]): ReadonlySet<string> {
  const patterns = [/(?:^|["'])[ \t]*([a-z][\w.-]{0,99})/gim, /:\/\/[^\s"'@#]{1,200}\/([a-z][\w-]{0,99})/gi];
  const names = files.flatMap((text) => patterns.flatMap((pattern) => [...text.matchAll(pattern)]));
  return new Set(names.map(([, name = '']) => spelled(name)));
}

/** Whether a package is installed with the pack, judging by the similarity of its two names. */
export function isDeclared(dotted: string, declared: ReadonlySet<string>): boolean {
  const top = dotted.split('.', 1)[0] ?? '';
  const name = installedAs.get(top) ?? spelled(top);
  return declared.has(name) || [...declared].some((other) => other.startsWith(name) || other.endsWith(name));
}

/**
 * Whether a value from outside isn't a class: a module, a name that isn't spelled like a class, or the result
 * of a call to Python's library.
 */
export function isSurelyNoClass(value: Unknown): boolean {
  if (value instanceof OutsideModule) return true;
  const { path } = value;
  return /^(?:PIL|typing)\.\w+$|^(?:\w+\.)+[a-z_]\w*$/.test(path) || (path.includes('(') && isLibrary(path));
}

/** Whether an outside value lacks a name that only classes of host nodes have. */
export function lacksConstant(path: string, name: string): boolean {
  return /^[A-Z][A-Z_]+$/.test(name) && isLibrary(path);
}
