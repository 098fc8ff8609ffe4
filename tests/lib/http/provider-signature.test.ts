import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { notificationsOf } from '../../support/relay.ts';
import { lastLine, say, started } from '../../support/notified.ts';
import { countRequests } from '../../support/registry.ts';
import { setVariables } from '../../support/variables.ts';

setVariables({
  VIDEO_NOTIFICATION_KEY: 'the-key-of-the-video-provider',
  VIDEO_NOTIFICATION_KEY_HEADER: 'X-Video-Signature',
});

const rawBody = '{"state":"success", "text":"é"}';
const sign = (text: string, key = 'the-key-of-the-video-provider') =>
  createHmac('sha256', key).update(text).digest('hex');

describe('a notification of a provider whose key is configured', () => {
  test.each([
    ['the HMAC-SHA256 of its body in lowercase', sign(rawBody)],
    ['the same in uppercase', sign(rawBody).toUpperCase()],
    ['the same after the name of the method', `sha256=${sign(rawBody)}`],
  ])('accepts a notification with %s', async (_, signature) => {
    const path = await started();
    const headers = { 'x-video-signature': signature };
    const { status } = await say(path, {}, { rawBody, headers });

    expect(status).toBe(200);
    expect(await notificationsOf(path.ticket)).toHaveLength(1);
  });

  test('checks the bytes of a body that comes as base64', async () => {
    const path = await started();
    const headers = { 'x-video-signature': sign(rawBody) };
    const encoded = { rawBody: Buffer.from(rawBody).toString('base64'), isBase64Encoded: true };
    const { status } = await say(path, {}, { headers, ...encoded });

    expect(status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ['no signature', {}],
    ['an empty one', { 'x-video-signature': '' }],
    ['one of another body', { 'x-video-signature': sign(`${rawBody} `) }],
    ['one by another key', { 'x-video-signature': sign(rawBody, 'another') }],
    ['a part of it', { 'x-video-signature': sign(rawBody).slice(0, 62) }],
    ['more than it', { 'x-video-signature': `${sign(rawBody)}00` }],
    ['one in the wrong header', { 'x-signature': sign(rawBody) }],
  ])('gets the answer of an unknown path with %s, before the store is asked', async (_, headers) => {
    const path = await started();
    const { result, requests } = await countRequests(() => say(path, {}, { rawBody, headers }));

    expect([result.status, result.body.error]).toEqual([404, 'route_not_found']);
    expect(lastLine()).toMatchObject({ reason: 'signature' });
    expect(requests).toEqual([]);
    expect(await notificationsOf(path.ticket)).toEqual([]);
  });

  test('leaves the other provider without a signature', async () => {
    const path = await started('relight-image');
    const { status } = await say(path, { status: 'COMPLETED' });

    expect(status).toBe(200);
  });
});
