import type { Site } from '@node-registry/site/layout';
import { site } from '../../lib/config.ts';
import type { Values } from '../parameters/parameters.ts';
import { type Given, valuesOf } from '../parameters/stage-parameters.ts';

/** Puts the site into the bucket after the deployment of a stage that has it enabled. */
export default class UploadSite {
  readonly hooks: Record<string, () => Promise<void>>;

  constructor(framework: Given) {
    this.hooks = { 'after:deploy:deploy': () => uploadSite(framework) };
  }
}

async function uploadSite(framework: Given): Promise<void> {
  const values = valuesOf(framework);
  if (values.site !== 'on') return;
  // Every command of the framework loads this file, and only a deployment needs these.
  const { PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const { buildSite, sitePage } = await import('@node-registry/site/build');
  const s3 = new S3Client({
    ...(await framework.getProvider('aws').getAwsSdkV3Config()),
    forcePathStyle: true,
  });
  // Upload the page last: it names the other files. Old files stay for browsers with an earlier page open.
  const files = await buildSite(siteOf(values), values.siteAccent);
  files.sort((a, b) => Number(a.path === sitePage) - Number(b.path === sitePage));
  for (const { path, type, cacheControl, content, isFirst } of files)
    await s3
      .send(
        new PutObjectCommand({
          Bucket: values.bucketName,
          Key: path,
          Body: content,
          ContentType: type,
          CacheControl: cacheControl,
          ...(isFirst && { IfNoneMatch: '*' }),
        }),
      )
      .catch((error: Error) => {
        if (error.name !== 'PreconditionFailed') throw error;
      });
}

/** The same as the functions read from their variables. */
function siteOf(values: Values): Site {
  const { SITE_NAME, SITE_LINKS } = site.variables();
  return {
    url: values.siteDomainName ? `https://${values.siteDomainName}` : undefined,
    name: SITE_NAME.schema.parse(values.siteName || undefined),
    logo: values.siteLogo || undefined,
    links: SITE_LINKS.schema.parse(values.siteLinks || undefined),
  };
}
