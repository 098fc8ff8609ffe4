import { beforeAll, describe, expect, test } from '@jest/globals';
import { errorCatalog } from '../../lib/errors.ts';
import { withMetrics } from '../../lib/metrics.ts';
import { seed } from '../../tools/local/seed.ts';
import { invoke, sampleBody } from '../support/invoke.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { proxies } from '../support/proxies.ts';
import { bearer } from '../support/tokens.ts';
import { setVariables } from '../support/variables.ts';

/** As on a deployed stage. */
const namespace = 'node-registry/test';
setVariables({ METRICS_NAMESPACE: namespace });

interface Directive {
  Namespace: string;
  Dimensions: [string[]];
  Metrics: { Name: string; Unit: string }[];
}

type Line = Record<string, unknown> & { _aws?: { Timestamp: number; CloudWatchMetrics: Directive[] } };

/** The metrics of a line as CloudWatch takes them: `dimensions: metrics`, each with its value. */
function metricsOf(line: Line): string[] {
  return (line._aws?.CloudWatchMetrics ?? []).map(({ Namespace, Dimensions: [names], Metrics }) => {
    expect(Namespace).toBe(namespace);
    for (const { Name, Unit } of Metrics) expect(Unit).toBe(Name.endsWith('_ms') ? 'Milliseconds' : 'Count');
    const values = Metrics.map(({ Name }) => `${Name} ${line[Name]}`);
    return `${names.map((name) => line[name]).join(' ')}: ${values.join(', ')}`;
  });
}

// What alarms watch: tests/infra/alarms.test.ts.
test.each([
  [{ event: 'delivery', outcome: 'again' }, ['again: deliveries 1']],
  [
    { event: 'delivery', outcome: 'delivered', delivery_lag_ms: 120 },
    ['delivered: deliveries 1', ': delivery_lag_ms 120'],
  ],
  [{ event: 'upload', outcome: 'rejected', lag_ms: 7 }, ['rejected: uploads 1', ': lag_ms 7']],
  [{ event: 'request', function: 'updateNode', ms: 9 }, ['updateNode ok: requests 1', ': service_ms 9']],
  [{ event: 'anything' }, []],
])('the line %j makes the metrics %j', (line, metrics) => {
  expect(metricsOf(withMetrics(line, namespace))).toEqual(metrics);
});

test('only the failures of a provider count as provider_errors', () => {
  const codes = Object.keys(errorCatalog).filter((code) =>
    metricsOf(withMetrics({ event: 'request', code, provider: 'image' }, namespace))
      .join()
      .includes('provider_errors 1'),
  );

  expect(codes).toEqual([
    'provider_failed',
    'provider_unreachable',
    'provider_invalid_reply',
    'provider_timeout',
  ]);
});

describe('the line of a paid request', () => {
  beforeAll(() => seed());

  test('contains the fields that an operator needs, and neither body, caller nor key; of a replay no call', async () => {
    const authorization = bearer('demo-owner');
    const body = { ...sampleBody('relight-image'), prompt: 'a private prompt' };
    const headers = { authorization, 'x-request-id': 'mine', 'idempotency-key': 'counted-once' };
    for (let count = 0; count < 2; count += 1)
      await invoke(proxies['relight-image'], 'relight-image', { headers, body });

    const [line, replayed] = lines('request');
    expect(line).toMatchObject({
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
    });
    expect(metricsOf(replayed)).toEqual([
      'relightImage ok: requests 1',
      expect.stringMatching(/^: service_ms \d+$/),
    ]);
    for (const secret of ['private', authorization, 'demo-owner', String(process.env.IMAGE_PROVIDER_KEY)])
      expect(loggedLines.join('')).not.toContain(secret);
  });
});
