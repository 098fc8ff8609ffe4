import * as config from '../config.ts';
import { encodedPath, objectUrl } from './object-url.ts';

/** Where anyone downloads what lies under a key: from the CDN in front of the bucket, or from the bucket. */
export function downloadUrl(key: string): string {
  const base = config.downloads().DOWNLOAD_BASE_URL;
  return base === undefined ? objectUrl(key).href : `${base.replace(/\/$/, '')}/${encodedPath(key)}`;
}
