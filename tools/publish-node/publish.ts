import { createHash } from 'node:crypto';
import type { NodeVersion } from '../../lib/schemas/node-version.ts';
import { Failure } from './failure.ts';
import type { Project } from './project.ts';
import { type Access, findVersion, pause, registerVersion } from './registry.ts';
import { upload } from './upload.ts';

interface Steps {
  say: (line: string) => void;
  progress: { show: (bytes: number) => void; finish: () => void };
}

export interface Published {
  downloadUrl: string;
  sha256: string;
  wasThere: boolean;
}

const pollMs = 250;
const slowestPollMs = 2000;

/**
 * Brings a version to its published state from wherever an earlier run left it:
 *
 *   published with these files   -> done, nothing is sent
 *   published with other files   -> refused: what is published never changes
 *   waiting, or not there        -> registered (anew), uploaded, and waited for
 */
export async function publish(
  access: Access,
  project: Project,
  archive: Buffer,
  timeoutMs: number,
  { say, progress }: Steps,
): Promise<Published> {
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const there = settled(await findVersion(access, project), sha256);
  if (there) return { ...there, wasThere: true };
  say(`Publishing ${project.node} ${project.version} as ${project.publisher}.`);
  const url = await registerVersion(access, project);
  if (url !== undefined) {
    say('Uploading.');
    await upload(url, archive, progress.show).finally(progress.finish);
    say('Waiting until the registry has checked it.');
  }
  return { ...(await waitFor(access, project, sha256, timeoutMs)), wasThere: url === undefined };
}

async function waitFor(access: Access, project: Project, sha256: string, timeoutMs: number) {
  const end = Date.now() + timeoutMs;
  for (let wait = pollMs; Date.now() < end; wait = Math.min(wait * 1.5, slowestPollMs)) {
    const version = await findVersion(access, project);
    const published = settled(version, sha256);
    if (published) return published;
    const reason = version?.status_reason ?? '';
    if (reason.startsWith('The archive was refused')) throw new Failure('archiveRefused', reason);
    await pause(wait);
  }
  throw new Failure(
    'tryAgain',
    'The upload is still being checked. Run the command again to see what became of it.',
  );
}

/** What is to be said of a version that no longer waits for its archive. */
function settled(version: NodeVersion | undefined, sha256: string) {
  if (version === undefined || version.status === 'NodeVersionStatusPending') return undefined;
  if (version.downloadUrl === undefined) {
    throw new Failure(
      'refused',
      `This version is not open to publishing: ${version.status_reason ?? version.status}`,
    );
  }
  if (version.sha256 !== sha256) {
    throw new Failure(
      'refused',
      'This version is published with other files. Give it a new version, then publish that.',
    );
  }
  return { downloadUrl: version.downloadUrl, sha256 };
}
