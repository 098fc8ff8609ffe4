/** One signed URL's worth of a version: where its archive is put, and which publish asked for it. */
export interface Upload {
  nodeId: string;
  version: string;
  versionId: string;
  uploadId: string;
}

/** The public download URL of a key of the bucket. */
export type DownloadUrl = (key: string) => string;
