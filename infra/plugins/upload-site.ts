import { type Given, valuesOf } from '../parameters/stage-parameters.ts';

/** Puts the site into the bucket once a stage is deployed that has it switched on. */
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
  const { buildSite, sitePage } = await import('site/build');
  const s3 = new S3Client({
    ...(await framework.getProvider('aws').getAwsSdkV3Config()),
    forcePathStyle: true,
  });
  // The page comes last: it names the others, which stay for those who have an earlier page open.
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
