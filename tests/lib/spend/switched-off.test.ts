import { expect, test } from '@jest/globals';
import { intercept } from '../../support/intercept.ts';

process.env.USAGE_RECORDS = 'off';
const { proxyNames } = await import('../../support/proxies.ts');
const { accountOf, pay, usageOf } = await import('../../support/spending.ts');
const { dynamodb } = await import('../../../lib/store/table.ts');

test.each(proxyNames)('%s asks the store nothing while usage records are off', async (name) => {
  const asked: string[] = [];
  const remove = intercept(dynamodb, ({ command, send }) => {
    asked.push(command);
    return send();
  });
  const { status, headers } = await pay('somebody', name);
  remove();

  expect([status, asked]).toEqual([200, []]);
  expect(headers).not.toHaveProperty('x-credits-used');
  expect([await accountOf('somebody'), await usageOf('somebody')]).toEqual([undefined, []]);
});
