import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { demo } from '../../../tools/local/demo.ts';
import { seed } from '../../../tools/local/seed.ts';
import { createRegistryClient } from '../client.ts';
import { errorOf } from '../../../tests/support/client-errors.ts';
import { startHttpApi } from '../../../tests/support/http-api.ts';
import { bearer } from '../../../tests/support/tokens.ts';

const api = await startHttpApi();
const accessToken = bearer(demo.owner).replace('Bearer ', '');
const client = createRegistryClient({ baseUrl: api.url, accessToken, attempts: 3 });

beforeAll(seed);
beforeEach(() => api.reset());
afterAll(() => api.stop());

describe('publish of the client', () => {
  const identifier = { node_id: 'published', version: '1.0.0' };
  const archive = new TextEncoder().encode('archive');
  const input = {
    publisherId: demo.publisherId,
    nodeId: 'published',
    version: { version: '1.0.0' },
    personalAccessToken: demo.personalAccessToken,
    archive,
  };
  const found = (node_version?: object) => ({
    status: 200,
    body: { node_versions: [{ identifier, status: node_version ? 'success' : 'not_found', node_version }] },
  });
  const pending = (status_reason_code: string) =>
    found({ status: 'NodeVersionStatusPending', status_reason_code, status_reason: 'Why.' });
  const registered = { status: 201, body: { node_version: {}, signedUrl: 'http://localhost:1/upload' } };
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const active = found({
    status: 'NodeVersionStatusActive',
    downloadUrl: 'http://localhost:1/a.zip',
    sha256,
  });
  const uploaded = { upload: async () => 200 };

  test.each([
    ['archive_refused', 'archive_rejected'],
    ['token_revoked', 'version_closed'],
    ['publisher_banned', 'version_closed'],
  ])('fails when the version stays pending because of %s', async (reason, code) => {
    api.disturb(registered, pending('awaiting_upload'), pending(reason), pending(reason));

    expect(await errorOf(client.publish(input, uploaded))).toMatchObject({ code, message: 'Why.' });
    expect(api.received).toHaveLength(4);
  });

  test('ignores a read that is older than the upload', async () => {
    api.disturb(registered, pending('archive_refused'), active);

    expect(await client.publish(input, uploaded)).toMatchObject({ wasPublished: false });
  });

  test('returns a version that an earlier call published with the same bytes', async () => {
    const exists = { status: 409, body: { error: 'version_exists', message: 'It exists.' } };
    api.disturb(exists, active);

    expect(await client.publish(input, uploaded)).toMatchObject({ wasPublished: true });
  });

  test.each([
    [
      'NodeVersionStatusBanned',
      'Bad.',
      'The operator of the registry has banned this version: Bad. Publish a new version.',
    ],
    ['NodeVersionStatusDeleted', undefined, 'This version was deleted. Publish a new version.'],
    ['NodeVersionStatusFlagged', undefined, 'This version is closed. Publish a new version.'],
  ])('fails for a version that is closed: %s', async (status, status_reason, message) => {
    api.disturb(registered, found({ status, status_reason }));

    expect(await errorOf(client.publish(input, uploaded))).toMatchObject({ code: 'version_closed', message });
  });

  test('says that a version is published only to those who may publish it', async () => {
    api.disturb({ status: 403, body: { error: 'forbidden', message: 'No.' } }, active);

    expect(await errorOf(client.publish(input, uploaded))).toMatchObject({ code: 'forbidden' });
    expect(api.received).toHaveLength(1);
  });

  test('retries an upload that broke off, and gives up on a rejected one', async () => {
    const statuses = [500, 200];
    api.disturb(registered, active);
    await client.publish(input, { upload: async () => statuses.shift() ?? 0 });
    expect(statuses).toEqual([]);

    api.disturb(registered);
    const refused = client.publish(input, { upload: async () => 403 });
    expect(await errorOf(refused)).toMatchObject({ code: 'upload_failed', status: 403 });
  });

  test('gives its own way to upload a signal that ends with the time limit or with the caller', async () => {
    const hears = (signal?: AbortSignal) =>
      new Promise<number>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const upload = (_: string, __: unknown, signal?: AbortSignal) => hears(signal);
    api.disturb(registered);
    const late = await errorOf(client.publish(input, { upload, uploadTimeoutMs: 50 }));
    expect(late).toMatchObject({ code: 'upload_failed' });

    api.disturb(registered);
    const given = client.publish(input, { upload, signal: AbortSignal.timeout(300) });
    await expect(given).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
