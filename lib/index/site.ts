import type { Site } from '@node-registry/site/layout';
import { site } from '../config.ts';

/** Whose site the pages belong to. */
export function currentSite(): Site {
  const { SITE_URL, SITE_NAME, SITE_LOGO, SITE_LINKS, SITE_REPORT_URL, TOOL_PACKAGE } = site();
  return {
    url: SITE_URL,
    name: SITE_NAME,
    logo: SITE_LOGO,
    links: SITE_LINKS,
    reportUrl: SITE_REPORT_URL,
    toolPackage: TOOL_PACKAGE,
  };
}
