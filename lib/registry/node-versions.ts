import { downloadUrl } from '../bucket/object-keys.ts';
import {
  adminVersionFields,
  NodeVersion,
  type NodeVersionInput,
  type NodeVersionStatus,
  Provenance,
} from '../schemas/node-version.ts';
import { compareVersions, isPreRelease } from '../schemas/version-label.ts';
import { type NodeVersionRecord, type ShownVersion, shownFields } from './records.ts';

export const maxVersionBytes = 120_000;

export const pending: NodeVersionStatus = 'NodeVersionStatusPending';

/** A version as callers see it. The address of the archive is composed here, so that it can move. */
export function nodeVersionView(version: ShownVersion): NodeVersion {
  const { archive_key, provenance } = version;
  const offered = archive_key !== undefined && isDownloadable(version);
  return shownFields<NodeVersion>(
    {
      ...version,
      ...(offered && { downloadUrl: downloadUrl(archive_key) }),
      ...(provenance && { provenance: shownFields<Provenance>(provenance, Provenance) }),
    },
    NodeVersion,
  );
}

/** The copy that a node keeps of its latest version. */
export function shownVersion(version: NodeVersionRecord): ShownVersion {
  const { archive_key, published_at, id, status } = version;
  return {
    ...shownFields<NodeVersion>(version, NodeVersion),
    id,
    version: version.version,
    status,
    ...(archive_key !== undefined && { archive_key }),
    ...(published_at !== undefined && { published_at }),
  };
}

export const waitingForUpload = {
  status_reason: 'Waiting for the archive: PUT it to the signedUrl of the publish answer.',
  status_reason_code: 'awaiting_upload',
} as const;

type PublisherFields = Omit<NodeVersionInput, 'version'>;

/** A publisher's fields of a version, as attributes. Null and absent both leave a field out. */
export function versionFields(
  { version: _, ...input }: NodeVersionInput,
  { isAdmin }: { isAdmin: boolean },
): { [Field in keyof PublisherFields]: NonNullable<PublisherFields[Field]> } {
  const reserved: readonly string[] = isAdmin ? [] : adminVersionFields;
  const entries = Object.entries(input).filter(
    ([field, value]) => value !== null && value !== undefined && !reserved.includes(field),
  );
  return Object.fromEntries(entries);
}

/** Flagged is a warning: such a version can still be downloaded, and stays the latest if it was. */
const downloadable: readonly NodeVersionStatus[] = ['NodeVersionStatusActive', 'NodeVersionStatusFlagged'];

export function isDownloadable({ status }: ShownVersion): boolean {
  return downloadable.includes(status);
}

/** The version that a node shows as its latest: of those that can be downloaded, the highest. */
export function latestOf<Version extends ShownVersion>(versions: readonly Version[]): Version | undefined {
  return versions.filter(isDownloadable).sort((a, b) => compareForLatest(b, a))[0];
}

/** Positive where `a` comes before `b` as the latest: stable before pre-release, then precedence, then time. */
function compareForLatest(a: ShownVersion, b: ShownVersion): number {
  return (
    Number(isPreRelease(b.version)) - Number(isPreRelease(a.version)) ||
    compareVersions(a.version, b.version) ||
    (a.published_at ?? '').localeCompare(b.published_at ?? '')
  );
}
