import * as z from 'zod';
import { bulkNodeVersions } from '../../lib/contracts/bulk-node-versions.ts';
import { publishNodeVersion } from '../../lib/contracts/publish-node-version.ts';
import type { NodeVersion } from '../../lib/schemas/node-version.ts';
import { Failure } from './failure.ts';
import type { Project } from './project.ts';

export interface Access {
  baseUrl: string;
  token: string;
  accessToken: string | undefined;
}

interface Answer {
  status: number;
  retryAfter: number;
  body: unknown;
}

const maxAttempts = 5;
const patienceMs = 30_000;

const ErrorBody = z.object({
  error: z.string(),
  message: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
});

/** The version as the registry has it; undefined where it has none. */
export async function findVersion(
  access: Access,
  { node, version }: Project,
): Promise<NodeVersion | undefined> {
  const answer = await post(access, bulkNodeVersions.path, { node_versions: [{ node_id: node, version }] });
  const parsed = bulkNodeVersions.reply.safeParse(answer.body);
  const entry = answer.status === 200 ? parsed.data?.node_versions[0] : undefined;
  if (!entry) throw unexpected(answer);
  if (entry.status === 'error') throw new Failure('refused', String(entry.error_message));
  return entry.node_version;
}

/** Registers the version and returns the address to upload it to; undefined where it is published already. */
export async function registerVersion(access: Access, project: Project): Promise<string | undefined> {
  const path = publishNodeVersion.path
    .replace('{publisherId}', encodeURIComponent(project.publisher))
    .replace('{nodeId}', encodeURIComponent(project.node));
  const answer = await post(access, path, {
    personal_access_token: access.token,
    node: {
      id: project.node,
      name: project.displayName,
      description: project.description,
      repository: project.repository,
      license: project.license,
      icon: project.icon,
    },
    node_version: {
      version: project.version,
      changelog: project.changelog,
      dependencies: project.dependencies,
    },
  });
  const parsed = publishNodeVersion.reply.safeParse(answer.body);
  if (answer.status === publishNodeVersion.status && parsed.success) return parsed.data.signedUrl;
  const refusal = ErrorBody.safeParse(answer.body);
  if (refusal.data?.error === 'version_exists') return undefined;
  if (!refusal.success || answer.status >= 500) throw unexpected(answer);
  const details = refusal.data.details.map(({ path: place, message }) => `\n  ${place}: ${message}`);
  throw new Failure('refused', `The registry refused: ${refusal.data.message}${details.join('')}`);
}

/** Nothing here is harmed by being sent twice, so whatever may go better next time is tried again. */
async function post({ baseUrl, accessToken }: Access, path: string, body: unknown): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send(`${baseUrl}${path}`, accessToken, body).catch((error: unknown) => {
      if (attempt < maxAttempts) return undefined;
      throw new Failure('tryAgain', `The registry at ${baseUrl} cannot be reached.`, { cause: error });
    });
    const isFinal = answer !== undefined && answer.status < 500 && answer.status !== 429;
    if (answer && (isFinal || attempt === maxAttempts)) return answer;
    await pause(Math.max(answer?.retryAfter ?? 0, Math.random() * 250 * 2 ** attempt));
  }
}

async function send(url: string, accessToken: string | undefined, body: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(accessToken && { authorization: `Bearer ${accessToken}` }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(patienceMs),
    redirect: 'error',
  });
  const text = await response.text();
  const retryAfter = Math.min(Number(response.headers.get('retry-after') ?? 0) * 1000 || 0, patienceMs);
  return { status: response.status, retryAfter, body: parseOr(text) };
}

/** A proxy in between may answer with something else than JSON. */
function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unexpected({ status, body }: Answer): Failure {
  const message = ErrorBody.safeParse(body).data?.message ?? 'it sent no reply that can be understood.';
  const kind = status >= 500 || status === 429 ? 'tryAgain' : 'refused';
  return new Failure(kind, `The registry answered ${status}: ${message}`);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
