import { expect, test } from '@jest/globals';
import { requireNodeFits } from '../../../lib/registry/nodes.ts';

test('the checks of a node accept 260,000 bytes without the latest version, and reject one byte more', () => {
  const latest_version = {
    id: 'x'.repeat(200_000),
    version: '1.0.0',
    status: 'NodeVersionStatusActive',
  } as const;
  const name = 'é'.padEnd(260_000 - Buffer.byteLength('{"name":"é"}') + 1, 'x');

  expect(() => requireNodeFits({ name, latest_version })).not.toThrow();
  expect(() => requireNodeFits({ name: `${name}x` })).toThrow(
    expect.objectContaining({ code: 'record_too_large' }),
  );
});
