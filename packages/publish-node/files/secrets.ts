import { isWellFormed } from '@node-registry/registry-rules/personal-access-tokens';

const credentials = 'a credentials file';

/** Files whose names mark them as secrets, at any depth. */
const names: readonly [pattern: RegExp, what: string][] = [
  [
    /(?:^|\/)(?:\.env(?![^/]*[._-](?:example|sample|template)$)[^/]*(?:\/|$)|[^/]+\.env$)/i,
    'an environment file',
  ],
  [/(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\.(?:bak|backup|old|orig|save))?~?$/i, 'a private key'],
  [/\.(?:ppk|p12|pfx|jks|keystore)$/i, 'a private key'],
  [/(?:^|\/)(?:\.pypirc|[._]netrc|\.git-credentials|\.htpasswd|\.dockercfg|\.vault-token)$/i, credentials],
  [/(?:^|\/)\.(?:aws|gem|cargo|config\/gh)\/(?:credentials(?:\.toml)?|hosts\.yml)$/i, credentials],
  [/(?:^|\/)\.(?:docker\/config\.json|kube\/config|huggingface\/token)$/i, credentials],
  [/(?:^|\/)(?:credentials|application_default_credentials|client_secret[^/]*)\.json$/i, credentials],
];

/** The first line of a key, including its URL-encoded form. */
const firstLine = /-----BEGIN(?:[A-Z0-9 +]|%20){1,40}PRIVATE(?:[ +]|%20)KEY(?:(?:[ +]|%20)BLOCK)?-----/g;
/** Usually longer than a key's headers. */
const nearBytes = 1_000;
/** No key is shorter, and identifiers of this length rarely have digits and letters of both cases. */
const fewestOfKey = 40;
const piece = /[A-Za-z0-9+/]{16,}/g;
const isMixed = (text: string) => /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
const ownToken = /nrp_[0-9A-Za-z]{38}/g;
/**
 * Text that may precede a key: never part of a word, but an escape of strings, URLs or terminals, or the
 * option of a command.
 */
const before =
  /(?:(?<![A-Za-z0-9-])|(?<=\\(?:[nrtbfve]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[0-7]{2,3})|[%=][0-9A-Fa-f]{2}|\[[\d;]{0,20}m|(?<![\w-])-[A-Za-z]))/
    .source;

/** Keys of services in this field: a prefix, and a random part. The prefix is searched first: it is rare. */
const issued: readonly [prefix: string, pattern: RegExp][] = (
  [
    ['sk-', /sk-(?:ant|proj|svcacct|admin)-([\w-]{40,200})/],
    ['sk-', /sk-(?:or-v1-)?([0-9a-f]{32}|[0-9a-f]{64})(?![\w-])/],
    ['sk-', /sk-((?=[A-Za-z]*\d)(?=[A-Z\d]*[a-z])(?=[a-z\d]*[A-Z])[A-Za-z0-9]{20,200})(?![\w-])/],
    ['sk_live_', /[sr]k_live_([A-Za-z0-9]{20,200})/],
    ['hf_', /(?:hf|api_org)_([A-Za-z0-9]{34})(?![\w-])/],
    ['ghp_', /gh[pousr]_([A-Za-z0-9]{36,200})/],
    ['github_pat_', /github_pat_([A-Za-z0-9_]{50,200})/],
    ['AKIA', /A(?:KIA|SIA)([0-9A-Z]{16})(?![\w-])/],
    ['AIza', /AIza([0-9A-Za-z_-]{35})(?![\w-])/],
    ['npm_', /npm_([A-Za-z0-9]{36})(?![\w-])/],
    ['glpat-', /glpat-([A-Za-z0-9_-]{20,200})/],
    ['xox', /xox[abeoprs]-(?:[0-9]{1,20}-){1,4}([A-Za-z0-9-]{16,200})/],
    ['xapp-', /xapp-[0-9]-[A-Z0-9]{8,20}-[0-9]{8,20}-([A-Za-z0-9]{32,100})/],
    ['r8_', /r8_([A-Za-z0-9]{37})(?![\w-])/],
  ] as const
).map(([prefix, pattern]) => [prefix, new RegExp(`(?=${pattern.source})${before}${pattern.source}`, 'g')]);
const maxScannedBytes = 1_000_000;
const fewestDifferent = 8;

/** It repeats few characters, counts or spells the alphabet, or names itself a placeholder. */
function isPlaceholder(random: string): boolean {
  const codes = [...Buffer.from(random.toLowerCase())];
  const inOrder = codes.filter((code, index) => [0, 1].includes(code - (codes[index - 1] ?? 0))).length;
  return (
    new Set(random).size < Math.min(fewestDifferent, random.length / 3) ||
    inOrder > random.length / 2 ||
    !/[0-9A-Z]/.test(random) ||
    /example|placeholder|your[-_]/i.test(random)
  );
}

/** Whether enough of a key follows a first line, with any separators: quotes, escapes, comment signs. */
function hasPrivateKey(text: string): boolean {
  return [...text.matchAll(firstLine)].some(({ 0: line, index }) => {
    const start = index + line.length;
    const [near = ''] = text.slice(start, start + nearBytes).split('-----', 1);
    // A program repeats the same identifier.
    return [...new Set(near.match(piece)?.filter(isMixed))].join('').length >= fewestOfKey;
  });
}

function issuedKeyIn(content: Buffer): string | undefined {
  if (content.length > maxScannedBytes || content.subarray(0, 8_000).includes(0)) return undefined;
  const text = content.toString('latin1');
  const isKey = ([, random = '']: RegExpExecArray) => !isPlaceholder(random);
  return issued.find(([, pattern]) => [...text.matchAll(pattern)].some(isKey))?.[0];
}

/** Windows writes UTF-16, whose bytes match no pattern; not all programs mark it. */
function withoutUtf16(content: Buffer): Buffer {
  const mark = content.subarray(0, 2).toString('latin1');
  const isSwapped = mark === '\xFE\xFF' || isHalfZero(content, 0);
  const isUtf16 = isSwapped || mark === '\xFF\xFE' || isHalfZero(content, 1);
  if (!isUtf16 || content.length > 2 * maxScannedBytes) return content;
  const units = Buffer.from(content.subarray(0, content.length - (content.length % 2)));
  return Buffer.from((isSwapped ? units.swap16() : units).toString('utf16le').replace(/^\uFEFF/, ''));
}

/** In Latin text exactly these bytes are zero. */
function isHalfZero(content: Buffer, parity: 0 | 1): boolean {
  const zeros = [0, 0];
  const start = content.subarray(0, 1_000);
  for (const [index, byte] of start.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  return zeros[1 - parity] === 0 && (zeros[parity] ?? 0) > start.length / 3;
}

/** In overlapping pieces: a whole file's string would double its memory. A match near an end is in both. */
function someText(bytes: Buffer, is: (text: string) => boolean): boolean {
  for (let start = 0; start < bytes.length; start += pieceBytes)
    if (is(bytes.toString('latin1', start, start + pieceBytes + 2 * nearBytes))) return true;
  return false;
}

const pieceBytes = 1_000_000;

const registryLogin = /^[^#;\n]*:_(?:authToken|auth|password)\s*=\s*(?!\$\{)\S/m;

/** Why a file must not be published unless it is allowed by name; undefined if it may be. */
export function secretIn(path: string, content: Buffer): string | undefined {
  const named = names.find(([pattern]) => pattern.test(path));
  if (named) return `is ${named[1]}.`;
  const bytes = withoutUtf16(content);
  const has = (sign: string, is: (text: string) => boolean) => bytes.includes(sign) && someText(bytes, is);
  if (has('-----BEGIN', hasPrivateKey)) return 'holds a private key.';
  if (has('nrp_', (text) => text.match(ownToken)?.some(isWellFormed) === true)) {
    return 'holds a personal access token of this registry. Revoke it if others have seen it.';
  }
  if (/(?:^|\/)\.npmrc$/.test(path) && has(':_', (text) => registryLogin.test(text)))
    return 'is a credentials file.';
  const prefix = issuedKeyIn(bytes);
  return prefix === undefined ? undefined : `holds a key that begins with ${prefix}.`;
}
