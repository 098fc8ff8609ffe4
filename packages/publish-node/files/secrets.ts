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
 * The first line of a key, its headers and the beginning of its text, which may follow the last header on its line.
 * Every other header ends with its line, so there is one way to divide them; the limits hold for files of such lines.
 */
const privateKey =
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[rn])+(?:[\w-]{1,40}: [^\n]{0,200}\n\s*){0,10}(?:[\w-]{1,40}: [^\n]{0,200}\s)?[A-Za-z0-9+/=]{16}/;
const ownToken = /nrp_[0-9A-Za-z]{38}/g;
const registryLogin = /^[^#;\n]*:_(?:authToken|auth|password)\s*=\s*(?!\$\{)\S/m;

/** Why a file must not be published unless it is allowed by name; undefined where nothing speaks against it. */
export function secretIn(path: string, content: Buffer): string | undefined {
  const named = names.find(([pattern]) => pattern.test(path));
  if (named) return `is ${named[1]}.`;
  const has = (text: string) => content.includes(text);
  if (has('PRIVATE KEY') && privateKey.test(content.toString('latin1'))) return 'holds a private key.';
  if (has('nrp_') && content.toString('latin1').match(ownToken)?.some(isWellFormed)) {
    return 'holds a personal access token of this registry. Revoke it if others have seen it.';
  }
  if (/(?:^|\/)\.npmrc$/.test(path) && registryLogin.test(content.toString()))
    return 'is a credentials file.';
  return undefined;
}
