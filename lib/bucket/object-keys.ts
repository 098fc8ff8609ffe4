import { serviceHost } from '../aws/signing.ts';
import * as config from '../config.ts';

/*
 * A signed URL of a publish can only put under `staging/`, each under a key of its own. Only the finalizer
 * copies from there to `archives/`. A key there names the bytes it holds, so even two finalizers that run on
 * different uploads of one version never write different bytes to one key:
 *
 *   staging/<node id>/<version>/<version id>/<upload id>.zip      expires by lifecycle rule
 *   archives/<node id>/<version>/<version id>-<sha256>.zip        written once
 *
 * Callers' images are under `images/` (lib/attempts/caller-images.ts), task statuses under `status/`.
 */

/** The upload of one signed URL: the archive's place, and the publish that asked for it. */
export interface Upload {
  nodeId: string;
  version: string;
  versionId: string;
  uploadId: string;
}

export function stagingKey({ nodeId, version, versionId, uploadId }: Upload): string {
  return `staging/${nodeId}/${version}/${versionId}/${uploadId}.zip`;
}

/** The upload of a staging key. Undefined for any other key. */
export function uploadOf(key: string): Upload | undefined {
  return stagingShape.exec(key)?.groups as Upload | undefined;
}

const stagingShape =
  /^staging\/(?<nodeId>[^/]+)\/(?<version>[^/]+)\/(?<versionId>[^/]+)\/(?<uploadId>[^/]+)\.zip$/;

/** The parts of the key of a published archive. */
export interface PublishedKey {
  nodeId: string;
  version: string;
  versionId: string;
  sha256: string;
}

/** The version of a published archive's key. Undefined for any other key. */
export function publishedKeyOf(key: string): PublishedKey | undefined {
  return archiveShape.exec(key)?.groups as PublishedKey | undefined;
}

const archiveShape =
  /^archives\/(?<nodeId>[^/]+)\/(?<version>[^/]+)\/(?<versionId>[^/]+)-(?<sha256>[0-9a-f]{64})\.zip$/;

export function archiveKey(upload: Omit<Upload, 'uploadId'>, sha256: string): string {
  return `${archivesOf(upload)}${sha256}.zip`;
}

/** The common prefix of the keys of all archives copied for a version. */
export function archivesOf({ nodeId, version, versionId }: Omit<Upload, 'uploadId'>): string {
  return `${publishedFolder(nodeId, version)}${versionId}-`;
}

/** The common prefix of a node's archives, or of one version's. */
export function publishedFolder(nodeId: string, version?: string): string {
  return `archives/${nodeId}/${version === undefined ? '' : `${version}/`}`;
}

/** S3 writes keys into its events as forms do: percent-encoded, with + for a space. */
export function decodeKey(key: string): string {
  return decodeURIComponent(key.replaceAll('+', ' '));
}

export function objectUrl(key: string): URL {
  const { AWS_ENDPOINT_URL_S3, AWS_REGION, BUCKET_NAME } = config.bucket();
  const path = encodedPath(key);
  return AWS_ENDPOINT_URL_S3
    ? new URL(`${BUCKET_NAME}/${path}`, `${AWS_ENDPOINT_URL_S3}/`)
    : new URL(`https://${BUCKET_NAME}.${serviceHost('s3', AWS_REGION)}/${path}`);
}

export function encodedPath(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/');
}

/** The public download URL of a key: at the CDN in front of the bucket, or at the bucket. */
export function downloadUrl(key: string): string {
  const base = config.downloads().DOWNLOAD_BASE_URL;
  return base === undefined ? objectUrl(key).href : `${base.replace(/\/$/, '')}/${encodedPath(key)}`;
}
