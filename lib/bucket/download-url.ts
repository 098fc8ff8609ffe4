import * as concerns from '../concerns.ts';
import { readEnvironment } from '../environment.ts';
import { encodedPath, objectUrl } from './object-url.ts';

const base = readEnvironment(concerns.downloads).DOWNLOAD_BASE_URL;

/** Where anyone downloads what lies under a key: from the CDN in front of the bucket, or from the bucket. */
export function downloadUrl(key: string): string {
  return base === undefined ? objectUrl(key).href : `${base.replace(/\/$/, '')}/${encodedPath(key)}`;
}
