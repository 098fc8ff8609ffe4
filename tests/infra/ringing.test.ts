import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { nodeVersionKey } from '../../lib/store/keys.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { invoke } from '../support/invoke.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { bearer } from '../support/tokens.ts';
import { rings, type Sample } from './alarm-state.ts';
import { ofType, type Packaged, packagedStage } from './packaging.ts';

/*
 * Every alarm is held against metrics that make it ring, and against metrics that must not. Those of the stage's own
 * namespace are read out of lines that the functions really log; those of AWS's services are made up.
 */

/** As on the packaged stage; the modules read it when they are loaded. */
const own = 'node-registry/prod';
process.env.METRICS_NAMESPACE = own;
const { seed } = await import('../../tools/local/seed.ts');
const { misbehave, proxies } = await import('../support/proxies.ts');
const { handler: bulkNodeVersions } = await import('../../functions/bulk-node-versions.ts');
const { handler: deliverNotifications } = await import('../../functions/deliver-notifications.ts');
const { handler: finalizeUpload } = await import('../../functions/finalize-upload.ts');
const { dynamodb, tableName } = await import('../../lib/store/table.ts');
const { demoArchive } = await import('../../tools/local/demo-archive.ts');
const { publish, put } = await import('../support/uploads.ts');
const { emptyOutbox, makeDue, writeNotification } = await import('../support/notifications.ts');

let alarms: Map<string, Part>;

beforeAll(async () => {
  await seed();
  // Those that only a stage with everything has, too.
  const [plain, full] = [await packagedStage('default'), await packagedStage('full')];
  alarms = new Map([...alarmsOf(full), ...alarmsOf(plain)]);
}, 120_000);

beforeEach(() => {
  loggedLines.length = 0;
});

afterEach(() => {
  dynamodb.middlewareStack.remove('fault');
});

function alarmsOf(stage: Packaged): Map<string, Part> {
  const all = ofType(stage, 'AWS::CloudWatch::Alarm');
  return new Map(all.map(([, alarm]) => [alarm.AlarmName.replace('node-registry-prod-', ''), alarm]));
}

/** The last minute of a made-up day, in which the sample day's last values arrive. */
const now = 1440;

/** What CloudWatch reads out of the lines that were logged, as if they had been logged in these minutes. */
function logged(minutes = [now], times = 1): Sample[] {
  const samples = loggedLines.flatMap((text) => {
    const line = JSON.parse(text);
    return (line._aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace, Dimensions, Metrics }: Part) =>
      Metrics.map(({ Name }: Part) => ({
        metric: `${Namespace} ${Name}`,
        dimensions: Object.fromEntries(Dimensions[0].map((name: string) => [name, line[name]])),
        value: line[Name],
      })),
    );
  });
  return minutes.flatMap((minute) =>
    Array(times)
      .fill(samples)
      .flat()
      .map((sample) => ({ ...sample, minute })),
  );
}

function isRinging(name: string, samples: Sample[]): boolean {
  const alarm = alarms.get(name);
  if (!alarm) throw new Error(`There is no alarm ${name}.`);
  return rings(alarm, samples, now);
}

const headers = { authorization: bearer('demo-owner') };
const context = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 60_000 } as Context;
const relight = () => invoke(proxies['relight-image'], 'relight-image', { headers });
const video = (name: 'text-to-video' | 'extend-video' | 'multiframe-video') =>
  invoke(proxies[name], name, { headers });
const sweep = () => finalizeUpload({ source: 'aws.events' } as Parameters<typeof finalizeUpload>[0], context);

const deliver = () =>
  deliverNotifications({ source: 'aws.events' } as Parameters<typeof deliverNotifications>[0], context);

/** Makes a publish look older than it is. */
async function age(nodeId: string, version: string, milliseconds: number): Promise<void> {
  const { pk, sk } = nodeVersionKey(nodeId, version);
  await dynamodb.send(
    new UpdateItemCommand({
      TableName: tableName(),
      Key: { pk: { S: pk }, sk: { S: sk } },
      UpdateExpression: 'SET pending_since = :since',
      ExpressionAttributeValues: { ':since': { S: new Date(Date.now() - milliseconds).toISOString() } },
    }),
  );
}

/** The last three five-minute periods. */
const lastFifteen = [now - 10, now - 5, now];
/** Three five-minute periods of the last hour. */
const threePeriods = [now - 30, now - 15, now];

describe('an alarm on our own lines', () => {
  test('faults-bulkNodeVersions rings at the first unknown fault, and not at answers that callers caused', async () => {
    await invoke(bulkNodeVersions, 'bulk-node-versions', { rawBody: '{' });
    expect(isRinging('faults-bulkNodeVersions', logged())).toBe(false);

    dynamodb.middlewareStack.add(
      () => async () => {
        throw new Error('a fault that nothing knows');
      },
      { step: 'initialize', name: 'fault' },
    );
    await invoke(bulkNodeVersions, 'bulk-node-versions');
    expect(isRinging('faults-bulkNodeVersions', logged())).toBe(true);
  });

  test.each([
    ['image', 'relight-image'],
    ['video', 'extend-video'],
  ] as const)(
    '%s-provider-credentials rings at the first refused key, -quota does not',
    async (provider, name) => {
      await invoke(proxies[name], name, { headers });
      expect(isRinging(`${provider}-provider-credentials`, logged())).toBe(false);

      misbehave({ kind: 'status', status: 401 });
      await invoke(proxies[name], name, { headers });
      expect(isRinging(`${provider}-provider-credentials`, logged())).toBe(true);
      expect(isRinging(`${provider}-provider-quota`, logged())).toBe(false);
    },
  );

  test.each([
    ['image', 'relight-image'],
    ['video', 'text-to-video'],
    ['video', 'extend-video'],
    ['video', 'multiframe-video'],
  ] as const)('%s-provider-quota rings when %s meets an account without credits', async (provider, name) => {
    await invoke(proxies[name], name, { headers });
    expect(isRinging(`${provider}-provider-quota`, logged())).toBe(false);

    misbehave({ kind: 'status', status: 402 });
    await invoke(proxies[name], name, { headers });
    expect(isRinging(`${provider}-provider-quota`, logged())).toBe(true);
  });

  test.each([
    ['image', relight],
    ['video', () => video('text-to-video')],
  ])(
    '%s-provider-errors rings when single calls fail in three periods of an hour',
    async (provider, call) => {
      await call();
      const success = logged(threePeriods, 9);
      loggedLines.length = 0;
      misbehave({ kind: 'status', status: 500 });
      await call();

      expect(isRinging(`${provider}-provider-errors`, logged(threePeriods))).toBe(true);
      expect(isRinging(`${provider}-provider-errors`, logged([now, now - 15]))).toBe(false);
      expect(isRinging(`${provider}-provider-errors`, [...logged(threePeriods), ...success])).toBe(false);
    },
  );

  test('credits-per-hour rings when an hour costs more than creditsPerHourAlarm', async () => {
    const { body } = await video('text-to-video');
    const calls = Math.ceil(2001 / body.credits);

    expect(isRinging('credits-per-hour', logged([now - 10], calls))).toBe(true);
    expect(isRinging('credits-per-hour', logged([now - 10], calls - 1))).toBe(false);
  });

  test('credits-per-hour counts what relight costs by its price, together with the video provider', async () => {
    await relight();
    const ofImage = logged([now - 10], 1001);
    loggedLines.length = 0;
    const { body } = await video('extend-video');
    const ofVideo = logged([now - 10], Math.floor(1000 / body.credits));

    expect(isRinging('credits-per-hour', ofImage)).toBe(false);
    expect(isRinging('credits-per-hour', ofVideo)).toBe(false);
    expect(isRinging('credits-per-hour', [...ofImage, ...ofVideo])).toBe(true);
  });

  test('sweep-missing rings when no sweep left a line for two hours, also where a sweep found nothing', async () => {
    await sweep();

    expect(isRinging('sweep-missing', logged([now - 90, now - 30]))).toBe(false);
    expect(isRinging('sweep-missing', logged([now - 90]))).toBe(false);
    expect(isRinging('sweep-missing', logged([now - 130]))).toBe(true);
  });

  test('sweep-findings rings when a sweep publishes what an event should have', async () => {
    await sweep();
    expect(isRinging('sweep-findings', logged())).toBe(false);

    await put(await publish('ringing', '1.0.0'), await demoArchive('1.0.0'));
    await age('ringing', '1.0.0', 600_000);
    await sweep();
    expect(isRinging('sweep-findings', logged())).toBe(true);
  });
});

describe('an alarm on notifications', () => {
  beforeEach(emptyOutbox);

  test('notification-failures rings when an hour gives up more than failedNotificationsAlarm, and not for attempts', async () => {
    const { pk, sk } = await writeNotification('http://127.0.0.1:9999/nobody-listens');
    await deliver();
    expect(isRinging('notification-failures', logged([now], 100))).toBe(false);

    await makeDue({ pk, sk });
    loggedLines.length = 0;
    await writeNotification('http://169.254.169.254/');
    await deliver();
    expect(isRinging('notification-failures', logged([now - 30], 11))).toBe(true);
    expect(isRinging('notification-failures', logged([now - 30], 10))).toBe(false);
  });

  test('notification-backlog rings when something was due for over a quarter of an hour, 15 minutes long', async () => {
    const written = await writeNotification('http://127.0.0.1:9999/nobody-listens');
    await makeDue(written, 890_000);
    await deliver();
    expect(isRinging('notification-backlog', logged(lastFifteen))).toBe(false);

    await makeDue(written, 901_000);
    loggedLines.length = 0;
    await deliver();
    expect(isRinging('notification-backlog', logged(lastFifteen))).toBe(true);
    expect(isRinging('notification-backlog', logged([now - 10, now - 5]))).toBe(true);
  });

  test('notification-backlog rings when no run left a line for 15 minutes, also where a run found nothing due', async () => {
    await deliver();

    expect(isRinging('notification-backlog', logged([now - 16]))).toBe(true);
    expect(isRinging('notification-backlog', logged([now - 14]))).toBe(false);
    expect(isRinging('notification-backlog', logged(lastFifteen))).toBe(false);
  });
});

/** Values of a metric of AWS's own, with the dimensions that the alarm asks for. */
function fromAws(
  metric: string,
  dimensions: Record<string, string>,
  value: number,
  minutes = [now],
): Sample[] {
  return minutes.map((minute) => ({ metric, dimensions, minute, value }));
}

const api = { ApiId: `\${HttpApi}` };
const gateway = (minutes: number[], requests: number, errors: Record<string, number>) => [
  ...fromAws('AWS/ApiGateway Count', api, requests, minutes),
  ...Object.entries(errors).flatMap(([name, count]) =>
    fromAws(`AWS/ApiGateway ${name}`, api, count, minutes),
  ),
];
const ofFunction = (name: string) => ({ FunctionName: `\${${name}LambdaFunction}` });
const table = { TableName: `\${Table}` };
const queue = { QueueName: `\${FinalizeUploadFailures.QueueName}` };
const extractionQueue = { QueueName: `\${ExtractHostNodesFailures.QueueName}` };
const bucket = { BucketName: 'archives-of-the-tests', StorageType: 'StandardStorage' };
/** Invocations that were turned away in the whole account, and those of them that were of a function. */
const throttled = ({ all = 1, ...functions }: Record<string, number> = {}, minutes = [now]) => [
  ...fromAws('AWS/Lambda Throttles', {}, all, minutes),
  ...Object.entries(functions).flatMap(([name, count]) =>
    fromAws('AWS/Lambda Throttles', ofFunction(name), count, minutes),
  ),
];

describe('an alarm on the metrics of AWS', () => {
  test.each<[string, Sample[], Sample[]]>([
    ['server-errors', gateway([now, now - 1, now - 2], 100, { '5xx': 6 }), gateway([now], 100, { '5xx': 6 })],
    [
      'repeated-server-errors',
      gateway(threePeriods, 1, { '5xx': 1 }),
      gateway(threePeriods, 100, { '5xx': 1 }),
    ],
    ['client-errors', gateway(lastFifteen, 20, { '4xx': 11 }), gateway(lastFifteen, 20, { '4xx': 10 })],
    [
      'faults-finalizeUpload',
      fromAws('AWS/Lambda Errors', ofFunction('FinalizeUpload'), 1),
      fromAws('AWS/Lambda Errors', ofFunction('UpdateNode'), 1),
    ],
    [
      'slow-updateNode',
      fromAws('AWS/Lambda Duration', ofFunction('UpdateNode'), 2001, lastFifteen),
      fromAws('AWS/Lambda Duration', ofFunction('UpdateNode'), 2001, [now]),
    ],
    [
      'slow-relightImage',
      fromAws('AWS/Lambda Duration', ofFunction('RelightImage'), 15_001, lastFifteen),
      fromAws('AWS/Lambda Duration', ofFunction('RelightImage'), 15_000, lastFifteen),
    ],
    ['function-throttles', throttled(), throttled({ all: 0 })],
    [
      'table-throttles',
      fromAws('AWS/DynamoDB WriteThrottleEvents', table, 1, lastFifteen),
      fromAws('AWS/DynamoDB ReadThrottleEvents', table, 1, [now]),
    ],
    [
      'finalize-upload-dead-letters',
      fromAws('AWS/SQS ApproximateNumberOfMessagesVisible', queue, 1),
      fromAws('AWS/SQS ApproximateNumberOfMessagesVisible', queue, 0),
    ],
    [
      'extract-host-nodes-dead-letters',
      fromAws('AWS/SQS ApproximateNumberOfMessagesVisible', extractionQueue, 1),
      fromAws('AWS/SQS ApproximateNumberOfMessagesVisible', queue, 1),
    ],
    [
      'bucket-size',
      fromAws('AWS/S3 BucketSizeBytes', bucket, 500_000_000_001),
      fromAws('AWS/S3 BucketSizeBytes', bucket, 500_000_000_000),
    ],
  ])('%s rings at its bound, and not below', (name, loud, quiet) => {
    expect(isRinging(name, loud)).toBe(true);
    expect(isRinging(name, quiet)).toBe(false);
  });
});

describe('where concurrency is reserved', () => {
  const isRingingThere = async (name: string, samples: Sample[]) =>
    rings(alarmsOf(await packagedStage('full')).get(name), samples, now);

  test('function-throttles is silent about a function that meets its own reservation', async () => {
    const bounded = {
      FinalizeUpload: 25,
      ExtractHostNodes: 5,
      RelightImage: 4,
      TextToVideo: 3,
      ExtendVideo: 2,
      MultiframeVideo: 1,
    };

    expect(await isRingingThere('function-throttles', throttled({ all: 40, ...bounded }))).toBe(false);
    expect(await isRingingThere('function-throttles', throttled({ all: 41, ...bounded }))).toBe(true);
    expect(await isRingingThere('function-throttles', throttled({ all: 1, UpdateNode: 1 }))).toBe(true);
  });

  test.each([
    'FinalizeUpload',
    'ExtractHostNodes',
    'RelightImage',
    'TextToVideo',
    'ExtendVideo',
    'MultiframeVideo',
  ])(
    'reserved-throttles rings when %s meets its reservation for 15 minutes, and not at a moment',
    async (name) => {
      expect(await isRingingThere('reserved-throttles', throttled({ [name]: 1 }, lastFifteen))).toBe(true);
      expect(await isRingingThere('reserved-throttles', throttled({ [name]: 9 }, [now]))).toBe(false);
    },
  );
});

test('no alarm but those on missing runs rings on a stage that nobody uses', () => {
  const ringing = [...alarms.keys()].filter((name) => isRinging(name, []));

  expect(ringing.sort()).toEqual(['notification-backlog', 'sweep-missing']);
});
