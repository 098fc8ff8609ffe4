import { createSign, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { gitHubJob } from '../../tools/local/issuer.ts';
import { serve } from './serve.ts';
import { setVariables } from './variables.ts';

/*
 * ID tokens as GitHub Actions and GitLab sign them for their jobs, and the key sets of both. The functions read where
 * these are when they meet the first such token.
 */

export const audience = 'https://registry.example.com';

interface Key {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

export function createKey(kid: string): Key {
  return { kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) };
}

export const gitHub = { issuer: 'https://token.actions.githubusercontent.com', key: createKey('github-1') };
export const gitLab = { issuer: 'https://gitlab.com', key: createKey('gitlab-1') };

/** The issuers. They can be down, and the requests for their key sets are counted. */
export const keySets = { areDown: false, requests: 0, userAgent: '' };

export function keySetOf({ publicKey, kid }: Key): string {
  return JSON.stringify({
    keys: [{ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }],
  });
}

const server = await serve(({ url, headers }, response) => {
  const { key } = url === '/github' ? gitHub : gitLab;
  keySets.requests += 1;
  keySets.userAgent = headers['user-agent'] ?? '';
  response.statusCode = keySets.areDown ? 500 : 200;
  response.end(keySetOf(key));
});
setVariables({
  CI_AUDIENCE: audience,
  // Two spaces: an operator may align them.
  CI_ISSUERS: `github  ${gitHub.issuer} ${server.url}/github, gitlab ${gitLab.issuer} ${server.url}/gitlab`,
});

export type Claims = Record<string, unknown>;

function lifetime() {
  const now = Math.floor(Date.now() / 1000);
  return { iat: now, nbf: now - 60, exp: now + 300, jti: randomUUID() };
}

/** The claims of a job that a tag started; undefined takes one out. */
export function gitHubClaims(changes: Claims = {}): Claims {
  const { repository = 'octo/nodes', ref = 'refs/tags/v1.0.0' } = changes;
  return {
    iss: gitHub.issuer,
    aud: audience,
    ...lifetime(),
    ...gitHubJob({ repository: String(repository), workflow: 'release.yml', ref: String(ref) }),
    repository_id: '7100',
    repository_owner_id: '650',
    sha: 'f'.repeat(40),
    run_id: '4242',
    ...changes,
  };
}

export function gitLabClaims(changes: Claims = {}): Claims {
  const { project_path = 'group/sub/nodes', ref_path = 'refs/tags/v1.0.0' } = changes;
  return {
    iss: gitLab.issuer,
    aud: audience,
    sub: `project_path:${project_path}:ref_type:tag:ref:v1.0.0`,
    ...lifetime(),
    project_path,
    project_id: '22',
    namespace_path: 'group/sub',
    namespace_id: '7',
    ci_config_ref_uri: `gitlab.com/${project_path}//.gitlab-ci.yml@${ref_path}`,
    ref: 'v1.0.0',
    ref_path,
    ref_type: 'tag',
    sha: 'a'.repeat(40),
    pipeline_id: '900',
    pipeline_source: 'push',
    job_id: '901',
    ...changes,
  };
}

export function encode(part: unknown): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

export function sign(claims: Claims, key: Key, header: Claims = {}): string {
  const input = `${encode({ typ: 'JWT', alg: 'RS256', kid: key.kid, ...header })}.${encode(claims)}`;
  return `${input}.${createSign('RSA-SHA256').update(input).sign(key.privateKey, 'base64url')}`;
}

export function gitHubToken(changes: Claims = {}): string {
  return sign(gitHubClaims(changes), gitHub.key);
}

export function gitLabToken(changes: Claims = {}): string {
  return sign(gitLabClaims(changes), gitLab.key);
}
