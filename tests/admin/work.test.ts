import { expect, test } from '@jest/globals';
import { admin, adminJson } from '../support/admin.ts';
import { lane, owing, run } from '../support/work.ts';

test('work list and show have what waits and what was given up, with the reason', async () => {
  const { pk, sk, pending_since } = await owing();
  const key = `${pk}/${sk}`;
  const item = { lane, key, group: 'ada', tries: 0 };
  expect(await adminJson('work', 'list', '--lane', lane)).toEqual([{ ...item, next_look: pending_since }]);
  expect((await admin('work', 'list')).stdout).toMatch(
    new RegExp(`^LANE +KEY +NEXT LOOK\\n${lane} +${key} +20\\S+Z\n$`),
  );
  await run({ again: { last_error: 'no' }, isHopeless: true });
  const [given] = await adminJson('work', 'list', '--given-up');
  const { stdout } = await admin('work', 'show', key);

  expect(given).toEqual({ ...item, tries: 1, given_up: expect.stringMatching(/Z$/) });
  expect(stdout).toMatch(/^Lane +deliver\nFunction +deliverNotifications$/m);
  expect(stdout).toMatch(/^Given up +20.*Z$/m);
  expect(stdout).toMatch(/^Last error +no$/m);
  expect((await admin('work', 'list', '--lane', lane)).stdout).toBe('Nothing waits.\n');
  expect((await admin('work', 'show', `${pk}/none`)).stderr).toContain('There is no item');
  expect((await admin('work', 'list', '--lane', 'none')).stderr).toContain('--lane takes one of');
});
