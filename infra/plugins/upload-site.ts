import { type Given, valuesOf } from '../parameters/stage-parameters.ts';

/** Puts the site into the bucket after the deployment of a stage that has it enabled. */
export default class UploadSite {
  readonly hooks: Record<string, () => Promise<void>>;

  constructor(framework: Given) {
    this.hooks = { 'after:deploy:deploy': () => uploadSite(framework) };
  }
}

async function uploadSite(framework: Given): Promise<void> {
  const { site, bucketName, siteDomainName } = valuesOf(framework);
  if (site !== 'on') return;
  // Every command of the framework loads this file, and only a deployment needs these.
  const { PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const { buildSite, sitePage } = await import('@node-registry/site/build');
  const s3 = new S3Client({
    ...(await framework.getProvider('aws').getAwsSdkV3Config()),
    forcePathStyle: true,
  });
  // Upload the page last: it names the other files. Old files stay for browsers with an earlier page open.
  const files = await buildSite(siteDomainName ? `https://${siteDomainName}` : undefined);
  files.sort((a, b) => Number(a.path === sitePage) - Number(b.path === sitePage));
  for (const { path, type, cacheControl, content } of files)
    await s3.send(
      new PutObjectCommand({
        ...{ Bucket: bucketName, Key: path, Body: content },
        ...{ ContentType: type, CacheControl: cacheControl },
      }),
    );
}
