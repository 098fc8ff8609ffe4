import { describe, expect, test } from '@jest/globals';
import type { Values } from '../../infra/parameters/parameters.ts';
import { account, region, sentencesOn, valid } from './valid-parameters.ts';

describe('parameters together', () => {
  const problems = (values: Values) => sentencesOn({ ...valid, ...values }, region);
  const certificateArn = `arn:aws:acm:${region}:${account}:certificate/1234abcd`;

  test.each<[string, Values, string]>([
    [
      'a domain without a certificate',
      { domainName: 'api.example.com' },
      'domainName and certificateArn must be given together.',
    ],
    [
      'a certificate without a domain',
      { certificateArn },
      'domainName and certificateArn must be given together.',
    ],
    [
      'a budget below every rate',
      {
        creditsPerDay: '5',
        creditRates: '[{"operation":"relightImage","task":6}]',
      },
      'creditsPerDay is below every rate: no caller could start a task.',
    ],
    [
      'a site that its address would not serve',
      { site: 'on', downloadBaseUrl: 'https://cdn.example.com' },
      'site must be off where downloadBaseUrl is given: it is served by the stage’s own distribution.',
    ],
    ['a zone without a domain', { hostedZoneId: 'Z123' }, 'hostedZoneId needs domainName.'],
    [
      'a budget that notifies nobody',
      { monthlyBudgetDollars: '5' },
      'monthlyBudgetDollars needs alarmTopicArn, which is notified.',
    ],
    [
      'a bucket whose logs cannot be named',
      { bucketName: 'a'.repeat(59), accessLogs: 'on' },
      'bucketName must have at most 58 characters where accessLogs or downloadCounts is on: the bucket of the logs adds -logs.',
    ],
    [
      'signatures of notifications that never come here',
      { videoNotificationKey: 'ssm:/video-key', notifications: 'direct' },
      'videoNotificationKey needs notifications=relay: otherwise no notification comes here whose signature it could check.',
    ],
    [
      'the header of a signature that nobody checks',
      { imageNotificationKeyHeader: 'x-signed', notifications: 'relay' },
      'imageNotificationKeyHeader needs imageNotificationKey, with which the signature in it is checked.',
    ],
    [
      'a rate of a model that is neither listed nor extra',
      {
        creditRates: '[{"operation":"multiframeVideo","model":"vidq5","task":1}]',
        videoModelsExtra: 'vidq4',
      },
      'creditRates: model of multiframeVideo must be one of vidq2-pro, vidq2-turbo, vidq4.',
    ],
    [
      'a rate of seconds that no task has',
      { creditRates: '[{"operation":"textToVideo","model":"vidq3-pro","seconds":99,"task":1}]' },
      'creditRates: duration of textToVideo must be 1 to 16 seconds for vidq3-pro.',
    ],
    ['an unknown name', { tokenIsuer: 'https://a.example.com' }, 'tokenIsuer is not a parameter.'],
  ])('fail together: %s', (_, values, sentence) => {
    expect(problems(values)).toEqual([sentence]);
  });

  test('reports all problems at once', () => {
    expect(problems({ rateLimit: 'abc', proxyRateLimit: '0', maxArchiveBytes: 'a b' })).toHaveLength(3);
  });

  test('take a budget of just one task, the longest name of a bucket with logs, and rates of extra models', () => {
    const creditRates =
      '[{"operation":"relightImage","task":6},{"operation":"multiframeVideo","model":"vidq4","second":8}]';

    expect(problems({ creditsPerDay: '6', creditRates, videoModelsExtra: 'vidq4,vidq5' })).toEqual([]);
    expect(problems({ bucketName: 'a'.repeat(58), accessLogs: 'on' })).toEqual([]);
  });

  test('leave access logs to regions in which CloudFront writes them, or to another distribution', () => {
    const logs = { accessLogs: 'on', downloadCounts: 'on' };
    const downloadBaseUrl = 'https://cdn.example.com';

    expect(sentencesOn({ ...valid, ...logs }, 'eu-west-1')).toEqual([]);
    expect(sentencesOn({ ...valid, ...logs }, 'eu-south-1')).toEqual(
      Object.keys(logs).map(
        (name) =>
          `${name} must be off in this region, or downloadBaseUrl given: CloudFront cannot write logs to a bucket here.`,
      ),
    );
    expect(sentencesOn({ ...valid, ...logs, downloadBaseUrl }, 'eu-south-1')).toEqual([]);
    expect(sentencesOn({ ...valid, downloadBaseUrl, tracing: 'Active' }, 'cn-north-1')).toEqual([
      'tracing must be PassThrough in China.',
    ]);
  });

  test.each(['us-gov-west-1', 'cn-north-1'])('require an address of downloads in %s', (place) => {
    const downloadBaseUrl = 'https://cdn.example.com';

    expect(sentencesOn({ ...valid, downloadBaseUrl }, place)).toEqual([]);
    expect(sentencesOn(valid, place)).toEqual([
      'downloadBaseUrl is needed in this region: it has no CloudFront that could read the bucket.',
    ]);
  });
});
