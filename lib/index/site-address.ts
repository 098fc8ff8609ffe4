import * as config from '../config.ts';

/** The site's own address; undefined without a name of its own. */
export function siteAddress(): string | undefined {
  const { SITE_DOMAIN_NAME: name } = config.siteAddress();
  return name && `https://${name}`;
}
