import { isWellFormed } from '../../../lib/auth/personal-access-tokens.ts';

/** Files that hold secrets by their name, at any depth. */
const names: readonly [pattern: RegExp, what: string][] = [
  [/(?:^|\/)\.env[^/]*(?:\/|$)/i, 'an environment file'],
  [/(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i, 'a private key'],
  [/\.(?:ppk|p12|pfx|jks|keystore)$/i, 'a private key'],
  [
    /(?:^|\/)(?:\.pypirc|[._]netrc|\.git-credentials|\.htpasswd|\.dockercfg|\.vault-token)$/i,
    'a credentials file',
  ],
  [
    /(?:^|\/)(?:\.aws|\.gem|\.cargo|\.config\/gh)\/(?:credentials(?:\.toml)?|hosts\.yml)$/i,
    'a credentials file',
  ],
  [/(?:^|\/)(?:\.docker\/config\.json|\.kube\/config|\.huggingface\/token)$/i, 'a credentials file'],
  [
    /(?:^|\/)(?:credentials|application_default_credentials|client_secret[^/]*)\.json$/i,
    'a credentials file',
  ],
];

/**
 * The first line of a key, its headers and the beginning of its text. Every header except the last ends with its line, so
 * there is one way to divide them, and matching stays linear.
 */
const privateKey =
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[rn])+(?:[\w-]{1,40}: [^\n]{0,200}\n\s*){0,10}(?:[\w-]{1,40}: [^\n]{0,200}\s)?[A-Za-z0-9+/=]{16}/;
const ownToken = /nrp_[0-9A-Za-z]{38}/g;
/** What services of this field issue. A placeholder has few different characters, and says so. */
const issued: readonly [pattern: RegExp, prefix: string][] = [
  [/(?<![\w-])sk-(?:[a-z0-9]{1,12}-){0,3}[A-Za-z0-9_]{20,200}/g, 'sk-'],
  [/(?<![\w-])hf_[A-Za-z0-9]{30,200}/g, 'hf_'],
  [/(?<![\w-])gh[pousr]_[A-Za-z0-9]{36,200}/g, 'ghp_'],
  [/(?<![\w-])github_pat_[A-Za-z0-9_]{50,200}/g, 'github_pat_'],
  [/(?<![\w-])A(?:KIA|SIA)[0-9A-Z]{16}(?![\w-])/g, 'AKIA'],
  [/(?<![\w-])AIza[0-9A-Za-z_-]{35}(?![\w-])/g, 'AIza'],
  [/(?<![\w-])npm_[A-Za-z0-9]{36}(?![\w-])/g, 'npm_'],
  [/(?<![\w-])glpat-[A-Za-z0-9_-]{20,200}/g, 'glpat-'],
  [/(?<![\w-])xox[abeoprs]-(?:[0-9]{1,20}-){1,4}[A-Za-z0-9-]{16,200}/g, 'xox'],
  [/(?<![\w-])r8_[A-Za-z0-9]{37}(?![\w-])/g, 'r8_'],
];
const maxScannedBytes = 1_000_000;
const fewestDifferent = 10;

function isPlaceholder(key: string): boolean {
  const isRandom = /\d/.test(key) || (/[a-z]/.test(key) && /[A-Z]/.test(key));
  return new Set(key).size < fewestDifferent || !isRandom || /example|placeholder|your[-_]/i.test(key);
}

function issuedKeyIn(content: Buffer): string | undefined {
  if (content.length > maxScannedBytes || content.subarray(0, 8_000).includes(0)) return undefined;
  const text = content.toString('latin1');
  return issued.find(([pattern]) => text.match(pattern)?.some((key) => !isPlaceholder(key)))?.[1];
}

/** Windows writes UTF-16, in which no pattern matches the bytes. */
function withoutUtf16(content: Buffer): Buffer {
  const mark = content.subarray(0, 2).toString('latin1');
  const isSwapped = mark === '\xFE\xFF';
  if ((!isSwapped && mark !== '\xFF\xFE') || content.length > 2 * maxScannedBytes) return content;
  const units = Buffer.from(content.subarray(2, content.length - (content.length % 2)));
  return Buffer.from((isSwapped ? units.swap16() : units).toString('utf16le'));
}

const registryLogin = /^[^#;\n]*:_(?:authToken|auth|password)\s*=\s*(?!\$\{)\S/m;

/** Why a file must not be published unless it is allowed by name; undefined if it may be. */
export function secretIn(path: string, content: Buffer): string | undefined {
  const named = names.find(([pattern]) => pattern.test(path));
  if (named) return `is ${named[1]}.`;
  const bytes = withoutUtf16(content);
  const has = (text: string) => bytes.includes(text);
  if (has('PRIVATE KEY') && privateKey.test(bytes.toString('latin1'))) return 'holds a private key.';
  if (has('nrp_') && bytes.toString('latin1').match(ownToken)?.some(isWellFormed)) {
    return 'holds a personal access token of this registry. Revoke it if others have seen it.';
  }
  if (/(?:^|\/)\.npmrc$/.test(path) && registryLogin.test(bytes.toString())) return 'is a credentials file.';
  const prefix = issuedKeyIn(bytes);
  return prefix === undefined ? undefined : `holds a key that begins with ${prefix}.`;
}
