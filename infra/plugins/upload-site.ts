import type { AccountOrigins } from '@node-registry/site/account';
import type { BuiltFile } from '@node-registry/site/build';
import type { Site } from '@node-registry/site/layout';
import { site } from '../../lib/config.ts';
import type { Values } from '../parameters/parameters.ts';
import { valuesOf } from '../parameters/stage-parameters.ts';
import type { Framework } from './framework.ts';

/** Puts the pages into the bucket after the deployment of a stage that has them enabled. */
export async function uploadPages(framework: Framework): Promise<void> {
  const values = valuesOf(framework);
  // Every command of the framework loads this file, and only a deployment needs the bundler.
  if (values.site === 'on') {
    const { buildSite, sitePage } = await import('@node-registry/site/build');
    await upload(framework, await buildSite(siteOf(values), values.siteAccent), sitePage);
  }
  if (values.accountDomainName) {
    const { accountPage, buildAccount } = await import('@node-registry/site/account');
    const files = await buildAccount(accountOrigins(values), siteOf(values), values.siteAccent);
    const keys = files.flatMap((file) => {
      // The distribution takes a path as it is: with a slash at its end, that is the page's name.
      const paths = file.path === accountPage ? [file.path, 'account/'] : [file.path];
      return paths.map((path) => ({ ...file, path: `account/${path}` }));
    });
    await upload(framework, keys, `account/${accountPage}`);
  }
}

/** Uploads the page last: it names the other files. Old files stay for browsers with an earlier page open. */
async function upload(framework: Framework, files: BuiltFile[], page: string): Promise<void> {
  const { PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const s3 = new S3Client({
    ...(await framework.getProvider('aws').getAwsSdkV3Config()),
    forcePathStyle: true,
  });
  files.sort((a, b) => Number(a.path === page) - Number(b.path === page));
  for (const { path, type, cacheControl, content, isFirst } of files)
    await s3
      .send(
        new PutObjectCommand({
          Bucket: valuesOf(framework).bucketName,
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

/** What the page for accounts of a stage calls. */
export function accountOrigins(values: Values): AccountOrigins {
  const { domainName, tokenIssuer, loginIssuer, loginOrigins } = values;
  const issuers = [loginIssuer || tokenIssuer, ...(loginOrigins ?? '').split(',')];
  return { apiUrl: `https://${domainName}`, issuers: issuers.flatMap((each) => each || []) };
}
