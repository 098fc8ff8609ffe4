import { beforeAll, describe, expect, test } from '@jest/globals';
import { errorCatalog } from '../../lib/errors.ts';
import { log } from '../../lib/log.ts';
import { seed } from '../../tools/local/seed.ts';
import { invoke, sampleBody } from '../support/invoke.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { proxies } from '../support/proxies.ts';
import { bearer } from '../support/tokens.ts';
import { finalize, uploaded } from '../support/uploads.ts';
import { setVariables } from '../support/variables.ts';

/** As on a deployed stage. */
setVariables({ METRICS_NAMESPACE: 'node-registry/test' });

interface Directive {
  Namespace: string;
  Dimensions: string[][];
  Metrics: { Name: string; Unit: string }[];
}

type Line = Record<string, unknown> & { _aws?: { Timestamp: number; CloudWatchMetrics: Directive[] } };

/** The metrics of a line as CloudWatch takes them: per set of dimensions, each metric's value. */
function metricsOf(line: Line) {
  return (line._aws?.CloudWatchMetrics ?? []).map(({ Namespace, Dimensions, Metrics }) => {
    expect(Namespace).toBe('node-registry/test');
    for (const name of Dimensions.flat()) expect(line[name]).toEqual(expect.any(String));
    for (const { Name, Unit } of Metrics) expect(Unit).toBe(Name.endsWith('_ms') ? 'Milliseconds' : 'Count');
    return {
      dimensions: Object.fromEntries(Dimensions.flat().map((name) => [name, line[name]])),
      values: Object.fromEntries(Metrics.map(({ Name }) => [Name, line[Name]])),
    };
  });
}

const authorization = bearer('demo-owner');
const relight = (headers: Record<string, string> = {}, changes = {}) =>
  invoke(proxies['relight-image'], 'relight-image', { headers: { authorization, ...headers }, ...changes });

beforeAll(() => seed());

describe('the metrics of notifications', () => {
  test('count tries by their outcome, and measure how late a delivered one is', () => {
    log('info', 'delivery', { outcome: 'delivered', delivery_lag_ms: 120 });
    log('info', 'delivery', { outcome: 'again' });

    expect(lines('delivery').map(metricsOf)).toEqual([
      [
        { dimensions: { outcome: 'delivered' }, values: { deliveries: 1 } },
        { dimensions: {}, values: { delivery_lag_ms: 120 } },
      ],
      [{ dimensions: { outcome: 'again' }, values: { deliveries: 1 } }],
    ]);
  });
});

describe('the metrics of a request', () => {
  test('contain the fields that an operator needs, and neither body, caller nor key', async () => {
    const body = { ...sampleBody('relight-image'), prompt: 'a private prompt' };
    await relight({ 'x-request-id': 'mine' }, { body });

    expect(lines('request')).toEqual([
      expect.objectContaining({
        level: 'info',
        function: 'relightImage',
        route: 'POST /proxy/image-provider/v1/ai/image-relight',
        status: 200,
        code: 'ok',
        ms: expect.any(Number),
        cold_start: expect.any(Boolean),
        request_id: 'mine',
        gateway_request_id: 'sample-relight-image',
        principal: expect.stringMatching(/^[0-9a-f]{16}$/),
        provider: 'image',
        provider_payment: 'taken',
        provider_ms: expect.any(Number),
      }),
    ]);
    for (const secret of ['private', authorization, 'demo-owner', String(process.env.IMAGE_PROVIDER_KEY)])
      expect(loggedLines.join('')).not.toContain(secret);
  });

  test('count as provider_errors only the failures of the provider', () => {
    for (const code of Object.keys(errorCatalog))
      log('info', 'request', { function: 'relightImage', code, provider: 'image' });

    const counted = lines('request').filter((line) => metricsOf(line)[1]?.values.provider_errors === 1);
    expect(counted.map(({ code }) => code)).toEqual([
      'provider_failed',
      'provider_unreachable',
      'provider_invalid_reply',
      'provider_timeout',
    ]);
  });

  test('count a replayed answer as a request, and not as a second call', async () => {
    const headers = { 'idempotency-key': 'counted-once' };
    await relight(headers);
    await relight(headers);

    const [first, second] = lines('request').map(metricsOf);
    expect(first?.map(({ dimensions }) => Object.keys(dimensions))).toEqual([
      ['function', 'code'],
      ['provider'],
      [],
      ['function'],
    ]);
    expect(Object.keys(first?.at(-1)?.values ?? {})).toEqual(['caller_mark']);
    expect(second).toEqual([
      { dimensions: { function: 'relightImage', code: 'ok' }, values: { requests: 1 } },
    ]);
  });
});

describe('the metrics of the finalizer', () => {
  test('count each upload by its result, with its lag', async () => {
    await finalize(await uploaded('measured', Buffer.from('This is not a zip.')));

    expect(lines('upload').map(metricsOf)[0]).toEqual([
      { dimensions: { outcome: 'rejected' }, values: { uploads: 1 } },
      { dimensions: {}, values: { lag_ms: expect.any(Number) } },
    ]);
  });
});
