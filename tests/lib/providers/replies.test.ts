import { expect, test } from '@jest/globals';
import { relightImage } from '../../../lib/contracts/relight-image.ts';
import { textToVideo } from '../../../lib/contracts/text-to-video.ts';
import { invoke } from '../../support/invoke.ts';
import { fc } from '@node-registry/testing/properties';
import { runsOf } from '@node-registry/testing/property-runs';
import { misbehave, proxies, simulation } from '../../support/proxies.ts';
import { knownWords, stateOf } from '../../../lib/providers/reply.ts';

const contracts = { 'relight-image': relightImage, 'text-to-video': textToVideo } as const;
const names = Object.keys(contracts) as (keyof typeof contracts)[];

/** Any value, under known and unknown names. */
const anyField = fc.constantFrom(
  ...['data', 'task_id', 'state', 'credits', 'status', 'generated', 'duration', 'images', 'model', 'payload'],
  ...['seed', 'bgm', 'created_at', 'watermark', 'toString', 'length'],
);
/** JSON that no writer of a test gets out: it is put in as text. */
const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
const anyValue = fc.oneof(
  { weight: 9, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom({ toString: null }, 'DEEP') },
);
const anyReply = fc.dictionary(anyField, anyValue);

/** A task with good fields of its own and any values next to them. */
const anyTask = anyReply.map((echoes) => ({
  ...echoes,
  task_id: 'task-1',
  state: 'created',
  credits: 5,
  data: { ...echoes, task_id: 'task-1' },
}));

async function answerTo(name: keyof typeof contracts, reply: unknown) {
  simulation.reset();
  misbehave({ kind: 'text', text: JSON.stringify(reply).replaceAll('"DEEP"', deep) });
  return invoke(proxies[name], name);
}

test.each(names)(
  'any reply to %s is answered as its contract says, with the task if it names one, or with 502',
  async (name) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyReply, anyTask, fc.jsonValue()), async (reply) => {
        const { status, body, text } = await answerTo(name, reply);

        if (Object(reply).task_id === 'task-1')
          expect([status, text]).toEqual([200, expect.stringContaining('"task-1"')]);
        if (status !== 200) expect([status, body.error]).toEqual([502, 'provider_invalid_reply']);
        else expect(contracts[name].reply.safeParse(body).error).toBeUndefined();
      }),
      { numRuns: runsOf(6) },
    );
  },
);

test.each(Object.entries(knownWords))(
  'reads as %s each word that is listed for it, and no other state',
  (state, words) => {
    for (const word of words.split(' ')) expect([word, stateOf(word)]).toEqual([word, state]);
  },
);
