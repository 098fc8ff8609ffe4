import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { expect, test } from '@jest/globals';
import UploadSite from '../../infra/plugins/upload-site.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { buildSite, sitePage } from '../../packages/site/build.ts';
import { keysBelow, readObject } from '../support/bucket-objects.ts';

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

test('uploads nothing after a deployment unless the site is switched on', async () => {
  await deployedWith('off').hooks['after:deploy:deploy']?.();

  expect(await keysBelow('site/')).toEqual([]);
});

test('uploads every file of the site after a deployment, with its type and how long it is kept', async () => {
  await deployedWith('on').hooks['after:deploy:deploy']?.();
  const files = await buildSite();

  expect(await keysBelow('site/')).toEqual(files.map(({ path }) => path).sort());
  const { headers, text } = await readObject(sitePage);
  expect([headers.ContentType, headers.CacheControl]).toEqual([
    'text/html; charset=utf-8',
    'public, max-age=60',
  ]);
  expect(text).toContain('<h1 id="search-title">');
});
