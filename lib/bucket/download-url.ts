import * as config from '../config.ts';
import { encodedPath, objectUrl } from './object-url.ts';

/** The public download URL of a key: at the CDN in front of the bucket, or at the bucket. */
export function downloadUrl(key: string): string {
  const base = config.downloads().DOWNLOAD_BASE_URL;
  return base === undefined ? objectUrl(key).href : `${base.replace(/\/$/, '')}/${encodedPath(key)}`;
}
