import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, adminJson } from '../support/admin.ts';
import { misbehave } from '../support/proxies.ts';
import { setFields } from '../support/registry.ts';
import { pay, spender, usageOf } from '../support/spending.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-registry-bill-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('limit set, show, list and clear', () => {
  test('limits a caller, changes single limits, and goes back to the defaults', async () => {
    const user = await spender();
    await admin('limit', 'set', user, '--credits-per-day', '100', '--tasks-per-day', '5');
    const { limits } = await adminJson('limit', 'set', user, '--tasks-per-day', 'default');

    expect(limits).toEqual({ credits_per_day: 100 });
    expect(await adminJson('limit', 'list')).toContainEqual(
      expect.objectContaining({ caller: `user:${user}`, terms: expect.objectContaining({ limits }) }),
    );
    await admin('limit', 'clear', user);
    expect(await adminJson('limit', 'show', user)).toMatchObject({ limits: {} });
  });

  test('shows what was used today, and who changed what', async () => {
    const user = await spender({ credits_per_day: 1000 });
    await pay(user, 'multiframe-video');
    const { stdout } = await admin('limit', 'show', user);

    expect(stdout).toMatch(/Credits today\s+20\n/);
    expect(stdout).toMatch(/Tasks today\s+1\n/);
    expect(stdout).toMatch(/limit set\s+credits_per_day=1000/);
  });

  test.each([['-1'], ['1.5'], ['many'], ['']])('takes no limit of %j', async (value) => {
    const { status } = await admin('limit', 'set', 'somebody', `--credits-per-day=${value}`);

    expect(status).toBe(2);
  });
});

describe('caller block and unblock', () => {
  test('stop a caller and let it pay again, with a history', async () => {
    const user = await spender();
    await admin('caller', 'block', user, '--reason', 'leaked; ticket 7');
    const stopped = await pay(user);
    await admin('caller', 'unblock', user);

    expect(stopped.body.error).toBe('caller_blocked');
    expect((await pay(user)).status).toBe(200);
    const { history } = await adminJson('limit', 'show', user);
    expect(history).toMatchObject([
      { action: 'caller unblock' },
      { action: 'caller block', detail: 'leaked; ticket 7' },
    ]);
  });
});

describe('usage', () => {
  test('sums up one user by operation and model, from its id', async () => {
    const user = await spender();
    await pay(user, 'text-to-video');
    await pay(user, 'text-to-video');
    await pay(user, 'relight-image');
    misbehave({ kind: 'status', status: 422 });
    await pay(user, 'relight-image');

    expect(await adminJson('usage', '--user', user, '--by', 'operation,model')).toEqual([
      {
        group: { operation: 'textToVideo', model: 'vidq2-turbo' },
        ...{ tasks: 2, credits: 40, unknown: 0, refused: 0 },
      },
      { group: { operation: 'relightImage', model: '' }, tasks: 1, credits: 1, unknown: 0, refused: 1 },
    ]);
  });

  test('sums up by the state in which tasks ended, where the service has been notified of it', async () => {
    const user = await spender();
    await pay(user, 'text-to-video');
    const [record] = await usageOf(user);
    await setFields(record ?? { pk: '', sk: '' }, { final_state: 'failed', final_at: record?.at });
    await pay(user, 'relight-image');

    expect(await adminJson('usage', '--user', user, '--by', 'final_state')).toEqual([
      { group: { final_state: 'failed' }, tasks: 1, credits: 20, unknown: 0, refused: 0 },
      { group: { final_state: '' }, tasks: 1, credits: 1, unknown: 0, refused: 0 },
    ]);
  });

  test('prints a table for people and CSV for spreadsheets, which runs nothing in it', async () => {
    const user = `=cmd()-${await spender()}`;
    await pay(user, 'relight-image');
    const today = new Date().toISOString().slice(0, 10);

    expect((await admin('usage', '--user', user)).stdout).toMatch(/CALLER\s+OPERATION\s+CREDITS/);
    expect((await admin('usage', '--user', user, '--by', 'caller,day', '--csv')).stdout).toBe(
      `caller,day,credits,tasks,unknown,refused\n'${user},${today},1,1,0,0\n`,
    );
  });

  test.each([
    ['--by', 'colour'],
    ['--from', 'yesterday'],
  ])('rejects %s %s', async (...options) => {
    expect((await admin('usage', ...options)).status).toBe(2);
  });
});

describe('usage compare', () => {
  test('lists what is missing on either side of a bill, and what has another price', async () => {
    const user = await spender();
    for (let task = 0; task < 3; task += 1) await pay(user, 'extend-video');
    misbehave({ kind: 'reset' });
    await pay(user, 'extend-video');
    const [agreed, dearer, absent] = (await usageOf(user)).map(({ task_id }) => task_id);
    const bill = join(folder, 'bill.csv');
    await writeFile(bill, `task,credits\n${agreed},20\n${dearer},21\nunheard-of,20\n${agreed},20\n`);
    const result = await adminJson('usage', 'compare', bill, '--operations', 'extendVideo');

    expect(result).toMatchObject({
      matched: 1,
      notRecorded: [{ task_id: 'unheard-of', credits: 20 }],
      notBilled: [{ task_id: absent }],
      otherPrice: [{ record: { task_id: dearer, credits: 20 }, billed: 21 }],
      billedTwice: [{ task_id: agreed, credits: 20 }],
      unknown: [{ state: 'unknown', credits: 28 }],
    });
  });

  test('names the line of a bill that it cannot read', async () => {
    const bill = join(folder, 'odd.csv');
    await writeFile(bill, 'task,credits\na,many\n');
    const { status, stderr } = await admin('usage', 'compare', bill);

    expect([status, stderr]).toEqual([1, expect.stringContaining('Line 2 of the bill')]);
  });
});
