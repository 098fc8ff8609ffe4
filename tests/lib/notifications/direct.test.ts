import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { handler as receiveNotification } from '../../../functions/receive-notification.ts';
import { dynamodb } from '../../../lib/store/table.ts';
import { intercept } from '../../support/intercept.ts';
import { invoke, sampleBody } from '../../support/invoke.ts';
import { loggedLines } from '../../support/logged-lines.ts';
import { proxyNames, simulation } from '../../support/proxies.ts';
import { pay, spender } from '../../support/spending.ts';

const run = promisify(execFile);
const hook = ' https://caller.example.com/hook?of=7 ';

beforeEach(() => {
  loggedLines.length = 0;
});

/** Imports a function in a process of its own, as Lambda does, and answers which modules of the room were loaded. */
const program = `
  const loaded = [];
  const { registerHooks } = process.getBuiltinModule('module');
  registerHooks({
    load: (url, context, next) => {
      if (url.includes('/lib/notifications/')) loaded.push(url.slice(url.lastIndexOf('/') + 1));
      return next(url, context);
    },
  });
  const [file, eventFile] = process.argv.slice(1);
  const { handler } = await import(file);
  const event = JSON.parse(process.getBuiltinModule('fs').readFileSync(eventFile, 'utf8'));
  const { statusCode } = await handler(event, { getRemainingTimeInMillis: () => 29_000 });
  console.log(JSON.stringify({ statusCode, loaded }));
  process.exit();`;

async function modulesLoadedBy(name: string, environment: Record<string, string>): Promise<string[]> {
  const files = [resolve(`functions/${name}.ts`), resolve(`events/${name}.json`)];
  const { NOTIFICATIONS: _, ...rest } = process.env;
  const env = { ...rest, NODE_OPTIONS: '--disable-warning=ExperimentalWarning', ...environment };
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program, ...files], {
    env,
  });
  const { loaded } = JSON.parse(String(stdout.trim().split('\n').at(-1)));
  return loaded.sort();
}

describe('direct notifications', () => {
  test('receive-notification loads no module that relays them', async () => {
    expect(await modulesLoadedBy('receive-notification', { NOTIFICATIONS: 'direct' })).toEqual([]);
  });

  test.each(proxyNames)('%s gives the provider the caller’s own address and stores no task', async (name) => {
    const field = name === 'relight-image' ? 'webhook_url' : 'callback_url';
    const user = await spender();
    await pay(user, name);
    const stored: string[] = [];
    intercept(dynamodb, ({ command, input, send }) => {
      stored.push(command);
      expect(JSON.stringify(input)).not.toContain('TICKET#');
      return send();
    });
    const { status } = await pay(user, name, { body: { [field]: hook } });
    const [without, sent] = simulation.received.map(({ body }) => JSON.stringify(body));

    expect(status).toBe(200);
    expect(JSON.parse(String(sent))).toEqual({ ...JSON.parse(String(without)), [field]: hook.trim() });
    // Reserve, record, complete and settle.
    expect(stored).toEqual(['UpdateItemCommand', 'PutItemCommand', 'UpdateItemCommand', 'UpdateItemCommand']);
  });

  test.each(['http://caller.example.com/', 'https://user:secret@10.0.0.1:22/'])(
    'give the provider %s, which this service would never call',
    async (address) => {
      const body = { callback_url: address };
      const { status } = await pay(await spender(), 'text-to-video', { body });

      expect([status, simulation.received[0]?.body.callback_url]).toEqual([200, address]);
    },
  );

  test('answer a call to the address for notifications as any unknown path, without the store', async () => {
    const asked: string[] = [];
    intercept(dynamodb, ({ command, send }) => {
      asked.push(command);
      return send();
    });
    const { status, body } = await invoke(receiveNotification, 'receive-notification');

    expect([status, body.error, asked]).toEqual([404, 'route_not_found', []]);
    expect(JSON.parse(String(loggedLines.at(-1)))).toMatchObject({ reason: 'switched_off' });
    expect(sampleBody('receive-notification')).toHaveProperty('state');
  });
});

describe('relayed notifications', () => {
  test.each([
    ['text-to-video', ['hidden-ticket.ts', 'receiver-address.ts', 'records.ts']],
    [
      'receive-notification',
      ['hidden-ticket.ts', 'outbox.ts', 'provider-notification.ts', 'queue.ts', 'receive.ts', 'records.ts'],
    ],
  ])('%s loads only its part of the room', async (name, modules) => {
    const url = 'https://api.example.com/notifications';

    expect(await modulesLoadedBy(name, { NOTIFICATIONS: 'relay', NOTIFICATION_URL: url })).toEqual(modules);
  });
});
