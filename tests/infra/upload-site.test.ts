import { GetObjectCommand, ListObjectsV2Command, type S3ClientConfig } from '@aws-sdk/client-s3';
import { expect, test } from '@jest/globals';
import UploadSite from '../../infra/plugins/upload-site.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { buildSite, sitePage } from '../../packages/site/build.ts';

/** What the framework hands a plugin after `serverless deploy`, for the embedded S3. */
function deployedWith(site: 'on' | 'off'): UploadSite {
  const config: S3ClientConfig = { region: 'us-east-1', credentials: s3().config.credentials };
  return new UploadSite({
    processedInput: { commands: ['deploy'], options: {} },
    configurationInput: { params: { default: { site, bucketName: bucketName() } } },
    getProvider: () => ({
      getStage: () => 'prod',
      getRegion: () => 'us-east-1',
      getAwsSdkV3Config: async () => config,
    }),
  });
}

async function uploaded(): Promise<string[]> {
  const { Contents = [] } = await s3().send(
    new ListObjectsV2Command({ Bucket: bucketName(), Prefix: 'site/' }),
  );
  return Contents.map(({ Key = '' }) => Key).sort();
}

test('uploads nothing after a deployment unless the site is switched on', async () => {
  await deployedWith('off').hooks['after:deploy:deploy']?.();

  expect(await uploaded()).toEqual([]);
});

test('uploads every file of the site after a deployment, with its type and how long it is kept', async () => {
  await deployedWith('on').hooks['after:deploy:deploy']?.();
  const files = await buildSite();

  expect(await uploaded()).toEqual(files.map(({ path }) => path).sort());
  const { Body, ContentType, CacheControl } = await s3().send(
    new GetObjectCommand({ Bucket: bucketName(), Key: sitePage }),
  );
  expect([ContentType, CacheControl]).toEqual(['text/html; charset=utf-8', 'public, max-age=60']);
  expect(await Body?.transformToString()).toContain('<h1 id="search-title">');
});
