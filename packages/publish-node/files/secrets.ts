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
const [any, hex] = ['[A-Za-z0-9]', '[0-9a-f]'];
const uuid = `${hex}{8}-(?:${hex}{4}-){3}${hex}{12}`;

/** Keys of services in this field, as their public descriptions have them: a prefix, and the rest with its random part. */
const issued: readonly (readonly [prefix: string, rest: string])[] = [
  ['sk-', `(?:ant|proj|svcacct|admin)-([\\w-]{40,200})`],
  ['sk-', `(?:or-v1-)?(${hex}{32}|${hex}{64})(?![\\w-])`],
  ['sk-', `((?=[A-Za-z]*\\d)(?=[A-Z\\d]*[a-z])(?=[a-z\\d]*[A-Z])${any}{20,200})(?![\\w-])`],
  ['sk_live_', `(${any}{20,200})`],
  ['rk_live_', `(${any}{20,200})`],
  ['hf_', `(${any}{34})(?![\\w-])`],
  ['api_org_', `(${any}{34})(?![\\w-])`],
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((start) => [start, `(${any}{36,200})`] as const),
  ['github_pat_', `(\\w{50,200})`],
  ['AKIA', `([0-9A-Z]{16})(?![\\w-])`],
  ['ASIA', `([0-9A-Z]{16})(?![\\w-])`],
  ['AIza', `([\\w-]{35})(?![\\w-])`],
  ['npm_', `(${any}{36})(?![\\w-])`],
  ['glpat-', `([\\w-]{20,200})`],
  ['xox', `[abeoprs]-(?:[0-9]{1,20}-){1,4}([A-Za-z0-9-]{16,200})`],
  ['xapp-', `[0-9]-[A-Z0-9]{8,20}-[0-9]{8,20}-(${any}{32,100})`],
  ['r8_', `(${any}{37})(?![\\w-])`],
  ['comfyui-', `(${hex}{64})(?![\\w-])`],
  ['gsk_', `(${any}{52})(?![\\w-])`],
  ['xai-', `(${any}{70,90})(?![\\w-])`],
  ['pplx-', `(${any}{40,60})(?![\\w-])`],
  ['sk_', `(${hex}{48})(?![\\w-])`],
  ['pypi-', `(AgE[\\w-]{60,500})`],
  ['dckr_pat_', `([\\w-]{27})(?![\\w-])`],
  ['SG.', `([\\w-]{22}\\.[\\w-]{43})(?![\\w-])`],
  ['GOCSPX-', `([\\w-]{28})(?![\\w-])`],
  ['ya29.', `([\\w-]{60,500})`],
  ['dop_v1_', `(${hex}{64})(?![\\w-])`],
  ['shpat_', `(${hex}{32})(?![\\w-])`],
  ['lin_api_', `(${any}{40})(?![\\w-])`],
  ['ntn_', `(${any}{46})(?![\\w-])`],
  ['nvapi-', `([\\w-]{60,70})(?![\\w-])`],
  ['csk-', `([a-z0-9]{48})(?![\\w-])`],
  ['tvly-', `((?:dev-|prod-)?${any}{32})(?![\\w-])`],
  ['rpa_', `([A-Z0-9]{40,50})(?![\\w-])`],
  ['luma-', `(${uuid}-${uuid})(?![\\w-])`],
  ['key_', `(${hex}{128})(?![\\w-])`],
  ['jina_', `(${hex}{32}[\\w-]{28})(?![\\w-])`],
  ['pcsk_', `(\\w{60,80})(?![\\w-])`],
  ['lsv2_', `[ps][tk]_(${hex}{32}_${hex}{10})(?![\\w-])`],
  ['sbp_', `(${hex}{40})(?![\\w-])`],
  ['dapi', `(${hex}{32})(?![\\w-])`],
  ['sntrys_', `([\\w+/=-]{80,400})`],
  ['ATATT3', `([\\w=-]{150,250})`],
  ['PMAK-', `(${hex}{24}-${hex}{34})(?![\\w-])`],
  ['glsa_', `(${any}{32}_${hex}{8})(?![\\w-])`],
];

/** Secrets without a prefix of their own: a word that must be near, and the whole with its random part. */
const others: readonly [word: string, what: string, pattern: RegExp][] = [
  [
    'discord',
    'the address of a Discord webhook',
    /\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/([\w-]{60,80})/g,
  ],
  [
    'hooks.slack.com',
    'the address of a Slack webhook',
    /\/\/hooks\.slack\.com\/(?:services|workflows)\/T\w{8,12}\/[BA]\w{8,12}\/(\w{20,40})/g,
  ],
  [
    '://',
    'the address of a database with its password',
    /(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?)(?:\+\w{1,20})?:\/\/[^\s:@/"'<>{}$%]{0,60}:([^\s:@/"'<>{}$*]{8,100})@(?!localhost|127\.|0\.0|example\.)[\w-]+\./g,
  ],
  [
    'secret',
    'a secret key of AWS',
    /aws_?secret_?(?:access_?)?key["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([A-Za-z0-9/+]{40})(?![\w/+=])/gi,
  ],
  ['accountkey=', 'a key of Azure', /AccountKey=([A-Za-z0-9+/]{86}==)/gi],
  [
    'fal',
    'a key of fal',
    new RegExp(`\\bfal\\w{0,20}["']?[ \\t]{0,4}[:=][ \\t]{0,4}["']?(${uuid}:${hex}{32})`, 'gi'),
  ],
  [':aa', 'a token of a Telegram bot', /(?<![\w:])\d{8,10}:AA([\w-]{33})(?![\w-])/g],
  ['.', 'a token of a Discord bot', /(?<![\w.-])[MNO]\w{23,27}\.[\w-]{6}\.([\w-]{27,38})(?![\w.-])/g],
  ['pat', 'a token of Airtable', new RegExp(`\\bpat${any}{14}\\.(${hex}{64})(?!\\w)`, 'g')],
  ['-us', 'a key of Mailchimp', new RegExp(`(?<!\\w)(${hex}{32})-us\\d{1,2}(?!\\w)`, 'g')],
  ['key-', 'a key of Mailgun', new RegExp(`(?<![\\w-])key-(${hex}{32})(?![\\w-])`, 'g')],
  // Bare letters and digits mean nothing without the vendor's name.
  [
    '',
    'a key of the service that it names',
    /(?:civitai|together|wandb|cohere|mistral|stability|twilio|deepl|azure|kling|minimax|bria|removebg|imgbb|openweather)[\w.-]{0,20}(?:key|token|secret)\w{0,10}["']?[ \t]{0,4}[:=][ \t]{0,4}["'](?=\w{0,40}\d)(?=\w{0,40}[A-Za-z])(\w{32,64})["']/gi,
  ],
];

/**
 * Text that may precede a key: never part of a word, but an escape of strings, URLs or terminals, or the
 * option of a command.
 */
const before =
  /(?:(?<![A-Za-z0-9-])|(?<=\\(?:[nrtbfve]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[0-7]{2,3})|[%=][0-9A-Fa-f]{2}|\[[\d;]{0,20}m|(?<![\w-])-[A-Za-z]))/
    .source;
const patterns = issued.map(([prefix, rest]): [prefix: string, pattern: RegExp] => {
  const whole = prefix.replace('.', '\\.') + rest;
  return [prefix, new RegExp(`(?=${whole})${before}${whole}`, 'g')];
});
const maxScannedBytes = 1_000_000;
/** For each character, in bits. Random digits and letters have more, and a repeated word or number fewer. */
const leastEntropy = 2.9;

function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  const shares = [...counts.values()].map((count) => count / text.length);
  return -shares.reduce((sum, share) => sum + share * Math.log2(share), 0);
}

/** It repeats few characters, counts or spells the alphabet, or names itself a placeholder. */
function isPlaceholder(random: string): boolean {
  const codes = [...Buffer.from(random.toLowerCase())];
  const inOrder = codes.filter((code, index) => [0, 1].includes(code - (codes[index - 1] ?? 0))).length;
  return (
    entropyOf(random) < Math.min(leastEntropy, Math.log2(random.length) - 1.5) ||
    inOrder > random.length / 2 ||
    !/[0-9A-Z]/.test(random) ||
    /example|placeholder|your[-_]|passw|change/i.test(random)
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
  const hasKey = (pattern: RegExp) =>
    [...text.matchAll(pattern)].some(([, random = '']) => !isPlaceholder(random));
  // Searching for a fixed text first is faster by far.
  const own = patterns.find(([prefix, pattern]) => text.includes(prefix) && hasKey(pattern));
  if (own) return `a key that begins with ${own[0]}`;
  const lower = text.toLowerCase();
  return others.find(([word, , pattern]) => lower.includes(word) && hasKey(pattern))?.[1];
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
  const issuedKey = issuedKeyIn(bytes);
  return issuedKey && `holds ${issuedKey}.`;
}
