import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { absent } from '../../lib/store/items.ts';
import { putting, write } from '../../lib/store/write.ts';
import { readBill } from '../../tools/admin/spend/bill.ts';
import { folder } from '@node-registry/testing/folders';
import { admin, adminJson } from '../support/admin.ts';
import { say, started } from '../support/notified.ts';
import { misbehave } from '../support/proxies.ts';
import { pay, spender, usageOf } from '../support/spending.ts';
import '../support/in-order.ts';
import { soon } from '../support/registry.ts';

let user: string;

beforeEach(async () => {
  user = await spender();
});

/** The words of the command, with the bill as a file. */
async function bill(content: string): Promise<string[]> {
  const file = join(folder, 'bill.csv');
  await writeFile(file, content);
  return ['usage', 'compare', file];
}

describe('usage compare', () => {
  test('lists tasks that are missing on either side of a bill or have another price, with the totals', async () => {
    for (let task = 0; task < 3; task += 1) await pay(user, 'extend-video');
    misbehave({ kind: 'reset' });
    await pay(user, 'extend-video');
    const [agreed, dearer, missing] = (await usageOf(user)).map(({ task_id }) => task_id);
    const lines = `task,credits\n${agreed},20\n${dearer},21\nnever-seen,20\n`;
    const result = await adminJson(...(await bill(lines)), '--operations', 'extendVideo');

    const task = { operation: 'extendVideo', model: 'vidq2-turbo', seconds: 5 };
    const common = { caller: user, ...task, is_exact: true, credits: 20 };
    expect(result).toEqual({
      matched: 1,
      totals: { billed: 61, recorded: 60, difference: 1, unknown: 250 },
      not_recorded: [{ task_id: 'never-seen', credits: 20 }],
      not_billed: [expect.objectContaining({ ...common, task_id: missing })],
      other_price: [expect.objectContaining({ ...common, task_id: dearer, billed: 21 })],
      recorded_twice: [],
      unknown: [expect.objectContaining({ caller: user, state: 'unknown', credits: 250, is_exact: false })],
    });
    for (const record of [...result.not_billed, ...result.unknown])
      for (const name of ['pk', 'sk', 'write_id', 'ttl', 'key_hash']) expect(record).not.toHaveProperty(name);
  });

  test('finds the task of an unknown outcome whose provider notified us of its end', async () => {
    misbehave({ kind: 'reset' });
    const path = await started('text-to-video', user);
    await say(path, { id: 'late-film', state: 'processing' });
    const [listed] = await adminJson('usage', 'list', '--request', 'sample-text-to-video', '--user', user);
    const result = await adminJson(...(await bill('late-film,20')), ...only('textToVideo'));

    expect(listed).toMatchObject({ state: 'unknown', task_id: 'late-film' });
    expect(result).toMatchObject({
      totals: { billed: 20, recorded: 74, unknown: 0 },
      not_recorded: [],
      other_price: [{ task_id: 'late-film', state: 'unknown', credits: 74, is_exact: false, billed: 20 }],
      unknown: [],
    });
    await say(path, { id: 'late-film', state: 'success', credits: 30 });
    const { other_price: told } = await adminJson(...(await bill('late-film,20')), ...only('textToVideo'));
    expect(told).toMatchObject([{ credits: 30, is_exact: true, billed: 20 }]);
  });

  test('sums up the lines of a task, so that a credit note cancels a double charge', async () => {
    for (let task = 0; task < 3; task += 1) await pay(user, 'text-to-video', { body: { off_peak: true } });
    const [once, twice, returned] = (await usageOf(user)).map(({ task_id }) => task_id);
    const lines = [once, once, twice, twice, returned].map((id) => `${id},20`);
    const notes = [`${once},-20`, `${returned},-20`];
    const result = await adminJson(...(await bill([...lines, ...notes].join('\n'))), ...only('textToVideo'));

    expect(result).toMatchObject({
      matched: 1,
      totals: { billed: 60, recorded: 60, difference: 0 },
      other_price: [
        { task_id: twice, credits: 20, billed: 40 },
        { task_id: returned, credits: 20, billed: 0 },
      ],
    });
  });

  test('lists every record of a task id that several have', async () => {
    await pay(user, 'relight-image');
    const [record] = await usageOf(user);
    const copy = { ...record, sk: `${record?.sk}-2`, pk: `${record?.pk}` };
    await write(soon(), putting(copy, absent));
    const result = await adminJson(...(await bill(`${record?.task_id},1`)), ...only('relightImage'));

    expect(result).toMatchObject({ matched: 0, totals: { billed: 1, recorded: 2, difference: -1 } });
    const shown = { task_id: record?.task_id, operation: 'relightImage', billed: 1 };
    expect(result.recorded_twice).toMatchObject([shown, shown]);
  });

  test('marks a record whose price was never known', async () => {
    misbehave({ kind: 'reply', fields: { credits: 'many' } });
    await pay(user, 'multiframe-video', { body: { resolution: '540p' } });
    const [record] = await usageOf(user);
    const words = [...(await bill(`${record?.task_id},12`)), ...only('multiframeVideo')];

    expect((await adminJson(...words)).other_price).toMatchObject([{ is_exact: false, billed: 12 }]);
    const { stdout } = await admin(...words);
    expect(stdout).toContain('0 tasks agree, 1 does not.\nBilled 12, recorded 20, difference -8.');
    expect(stdout).toMatch(/another price, price never known\s+\S+\s+multiframeVideo\s+12\s+20\s/);
  });

  test.each(['extendvideo', 'updateNode', 'relightImage,', ''])('takes no operation %j', async (names) => {
    const { status, stderr } = await admin(...(await bill('a,1')), `--operations=${names}`);

    expect(status).toBe(2);
    if (names !== '') expect(stderr).toMatch(/Choose from .*\brelightImage, textToVideo\b/);
  });
});

describe('a bill', () => {
  const creditsOf = (content: string | Uint8Array) => Object.fromEntries(readBill(Buffer.from(content)));

  test.each([
    ['commas', 'a,20\nb,30\n'],
    ['a heading', 'Task ID,Credits\na,20\nb,30'],
    ['semicolons and CRLF', 'task_id;credits\r\na;20\r\nb;30\r\n'],
    ['tabs and lone CR', 'task\tcredits\ra\t20\rb\t30\r'],
    ['a byte order mark and empty lines', '\ufefftask,credits\n\na,20\n\nb,30\n\n'],
    ['quotation marks and blanks', '"task_id","credits"\n "a" , 20 \n"b","30"'],
    ['columns in another order, and more of them', 'date,cost,id\n2026-11-22,20,a\n"22, Nov",30.00,b\n'],
    ['separators and line ends in quoted cells', 'note,id,credits\n"x;y\t""z""\nw",a,20\n"",b,30\n'],
    ['UTF-16', new Uint8Array([0xff, 0xfe, ...Buffer.from('a,20\nb,30', 'utf16le')])],
  ])('reads a bill with %s', (_, content) => {
    expect(creditsOf(content)).toEqual({ a: 20, b: 30 });
  });

  test('adds up fractions, of task ids with quotation marks', () => {
    const credits = creditsOf('"a ""b"", c",0.1\n"a ""b"", c",0.2\nd,-7\n');

    expect(credits).toEqual({ 'a "b", c': 0.3, d: -7 });
  });

  test.each([
    ['a task without readable credits in the first line', 'x-1,20 EUR\na,20', 1],
    ['a first line that is no heading', 't,c\na,20', 1],
    ['a heading that names a column twice', 'task,credits,credits\na,20,30', 1],
    ['a decimal comma', 'a;20\nb;20,5', 2],
    ['a comma in thousands', 'task,credits\na,1,020', 2],
    ['a point in thousands', 'a,20\nb,1.020', 2],
    ['no number', 'task,credits\n\na,many', 3],
    ['an exponent', 'a,20\nb,1e2', 2],
    ['no task id', 'a,20\n,20', 2],
    ['a line with too few cells', 'id,date,credits\na,2026-11-22,20\nb,30', 3],
    ['a task id that a spreadsheet has rounded', 'task_id,credits\n1.23457E+14,20', 2],
    ['a sum', 'task_id,credits\na,20\nTotal,20', 3],
    ['a quotation mark that is not closed', 'a,20\n"b,20\n', 2],
    ['a line after a cell of two lines', 'note,id,credits\n"x\ny",a,20\nz,b,many', 4],
    ['nothing', '', 0],
    ['a heading only', 'task_id,credits\n', 0],
    ['bytes that are no text', new Uint8Array([0xe9, 0x2c, 0x31]), 0],
    ['UTF-16 without a byte order mark', Buffer.from('a,20\n', 'utf16le'), 1],
  ])('is rejected with %s, by the number of the line if it has one', (_, content, line) => {
    const none = /^The bill (?:has no tasks|is not text)/;
    expect(() => creditsOf(content)).toThrow(line === 0 ? none : new RegExp(`^Line ${line} of the bill `));
  });
});

function only(operation: string): string[] {
  return ['--operations', operation];
}
