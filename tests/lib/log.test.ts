import { describe, expect, test } from '@jest/globals';
import { describeError, log, note, withLogFields } from '../../lib/log.ts';
import { lines } from '../support/logged-lines.ts';
import { setVariables } from '../support/variables.ts';

describe('a log line', () => {
  test('names the release and the version of the function', () => {
    setVariables({ RELEASE: '4.0.0', AWS_LAMBDA_FUNCTION_VERSION: '7' });
    log('info', 'sweep');

    expect(lines()).toEqual([{ level: 'info', event: 'sweep', release: '4.0.0', function_version: '7' }]);
  });

  test('contains the fields that its own request has noted, and none of another request', async () => {
    const request = (id: number) =>
      withLogFields({ id }, async () => {
        await Promise.resolve();
        note({ provider: `p${id}` });
        log('info', 'request', { ms: id });
      });
    await Promise.all([request(1), request(2)]);
    note({ provider: 'no request' });
    log('info', 'request');
    const outer = { function: 'outer', source: 'aws' };
    withLogFields(outer, () =>
      withLogFields({ function: 'inner' }, () => {
        note({ ms: 1 });
        log('info', 'request', { ms: 2 });
      }),
    );

    expect(lines()).toEqual([
      { level: 'info', event: 'request', id: 1, provider: 'p1', ms: 1 },
      { level: 'info', event: 'request', id: 2, provider: 'p2', ms: 2 },
      { level: 'info', event: 'request' },
      { level: 'info', event: 'request', function: 'inner', source: 'aws', ms: 2 },
    ]);
    expect(outer).toEqual({ function: 'outer', source: 'aws' });
  });
});

describe('an error in the log', () => {
  test('contains its causes and its stack', () => {
    const error = new Error('outer', { cause: new TypeError('inner', { cause: 'a text' }) });

    expect(describeError(error)).toEqual({
      causes: ['Error: outer', 'TypeError: inner'],
      stack: error.stack,
    });
  });

  test('lists at most eight causes when it is its own cause', () => {
    const error = new Error('round');
    error.cause = error;

    expect(describeError(error).causes).toEqual(Array(8).fill('Error: round'));
  });
});
