import { beforeAll, expect, jest, test } from '@jest/globals';
import type { Misbehavior } from '../../../tools/simulators/misbehaviors.ts';
import { invoke, sampleBody } from '../../support/invoke.ts';
import { loggedLines } from '../../support/logged-lines.ts';
import { misbehave, outwaitProvider, proxies, proxyNames } from '../../support/proxies.ts';
import { bearer } from '../../support/tokens.ts';

/** The texts that must not leak, by name. */
const token = bearer('secret-keeper').replace('Bearer ', '');
const image = Buffer.from('a picture that is private, '.repeat(8)).toString('base64');
const secrets: Record<string, string> = {
  imageKey: String(process.env.IMAGE_PROVIDER_KEY),
  videoKey: String(process.env.VIDEO_PROVIDER_KEY),
  token,
  signature: String(token.split('.')[2]),
  image: image.slice(100, 200),
  prompt: 'a prompt like no other',
};

/** A provider that repeats everything it was sent in its errors. */
function misbehaviorsOf(key: string | undefined): (Misbehavior | undefined)[] {
  const talk = [key, `Token ${key}`, secrets.prompt, image, `data:image/png;base64,${image}`].join(' ');
  const statuses = [400, 401, 402, 403, 404, 422, 429, 500, 503];
  return [
    undefined,
    ...statuses.map((status) => ({ kind: 'status', status, message: talk, reason: talk }) as const),
    { kind: 'status', status: 422, message: talk, invalidParams: [{ name: talk, reason: talk }] },
    { kind: 'text', text: talk },
    { kind: 'html' },
    { kind: 'reset' },
    { kind: 'stall' },
    { kind: 'truncated' },
    { kind: 'reply', fields: { credits: talk, task_id: null } },
  ];
}

const answers: { status: number; text: string }[] = [];
const logged: string[] = [];

/** Makes every request of this file: with a bad token, with an invalid body, and with each misbehavior. */
async function callEverything(): Promise<void> {
  for (const name of proxyNames) {
    const headers = { authorization: `Bearer ${token}` };
    const body = { ...sampleBody(name), ...imagesFor(name) };
    const key = name === 'relight-image' ? secrets.imageKey : secrets.videoKey;
    for (const misbehavior of misbehaviorsOf(key)) {
      if (misbehavior) misbehave(misbehavior);
      const call = () => invoke(proxies[name], name, { headers, body });
      answers.push(await (misbehavior?.kind === 'stall' ? outwaitProvider(call) : call()));
    }
    const invalid = { ...body, model: image, style: image, callback_url: image, webhook_url: image };
    answers.push(await invoke(proxies[name], name, { headers, body: invalid }));
    answers.push(await invoke(proxies[name], name, { headers: { authorization: `Bearer ${token}x` }, body }));
  }
}

function imagesFor(name: string): object {
  const prompt = secrets.prompt;
  if (name === 'relight-image') return { image, transfer_light_from_lightmap: image, prompt };
  if (name === 'multiframe-video') return { start_image: image };
  return { images: [image], prompt };
}

// The hook calls everything.
jest.setTimeout(120_000);

beforeAll(async () => {
  await callEverything();
  logged.push(...loggedLines);
});

const showing = (texts: string[], name: string) =>
  texts.filter((text) => text.includes(String(secrets[name])));

test.each(Object.keys(secrets))('never appears where a proxy request must not show it: the %s', (name) => {
  const errors = answers.filter(({ status }) => status !== 200);
  expect(logged.length).toBeGreaterThanOrEqual(answers.length);
  expect(errors.length).toBeGreaterThan(60);

  expect(showing(logged, name)).toEqual([]);
  // A success repeats the images and the prompt, as the interface says; an error may repeat the prompt.
  const shown = name === 'image' ? errors : answers;
  const texts = shown.map(({ text }) => text);
  if (name !== 'prompt') expect(showing(texts, name)).toEqual([]);
});
