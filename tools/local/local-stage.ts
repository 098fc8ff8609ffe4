import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Cors } from './cors.ts';
import { invocationOf, loadFunction } from './invocation.ts';

/** The parts of serverless.yml that the local stack uses. */
export interface LocalStage {
  provider: { timeout: number; environment: Variables; httpApi: { cors: Cors } };
  functions: Record<string, LocalFunction>;
}

type Variables = Record<string, string | null>;

interface LocalFunction {
  /** Such as `dist/update-node/index.handler`. */
  handler: string;
  timeout?: number;
  environment?: Variables;
  events: { httpApi?: string; schedule?: string; sqs?: QueueSource }[];
}

interface QueueSource {
  arn: { 'Fn::GetAtt': [queue: string, 'Arn'] };
  batchSize: number;
}

/** Resolves serverless.yml with the framework's own command, so that no second reader can differ from it. */
export async function readStage(): Promise<LocalStage> {
  const command = ['print', '--stage', 'local', '--format', 'json'];
  const env = { ...process.env, SLS_TELEMETRY_DISABLED: '1', SLS_NOTIFICATIONS_MODE: 'off' };
  const { stdout } = await promisify(execFile)('serverless', command, { env, timeout: 90_000 });
  return JSON.parse(stdout);
}

/** Sets the variables of all functions in this process, which runs them all. */
export function setVariables({ provider, functions }: LocalStage): void {
  const sets = [provider, ...Object.values(functions)].map(({ environment = {} }) => environment);
  for (const [name, value] of sets.flatMap((set) => Object.entries(set)))
    if (value !== null) process.env[name] = value;
}

/** The name of a function's file and folder. */
export function fileOf({ handler }: LocalFunction): string {
  return handler.split('/')[1] ?? '';
}

/** The queue's name in queues.ts. */
export function queueNameOf({ arn }: QueueSource): string {
  const [id] = arn['Fn::GetAtt'];
  return (id.charAt(0).toLowerCase() + id.slice(1)).replace(/Queue$/, '');
}

export function timeoutMsOf({ provider }: LocalStage, { timeout = provider.timeout }: LocalFunction): number {
  return timeout * 1000;
}

type ScheduledHandler = (event: object, invocation: object) => Promise<unknown>;

/** Calls functions at the rates of their schedules. The daily schedules, at a time of day, don't run here. */
export function runSchedules(stage: LocalStage): { stop: () => Promise<void> } {
  const timers = Object.values(stage.functions).flatMap((each) =>
    each.events.flatMap(({ schedule }) => {
      const everyMs = millisecondsOf(schedule ?? '');
      if (Number.isNaN(everyMs)) return [];
      const call = async () => {
        const handler = await loadFunction<ScheduledHandler>(fileOf(each));
        // The function has logged its own failure.
        await handler({}, invocationOf(timeoutMsOf(stage, each))).catch(() => {});
      };
      return setInterval(call, everyMs).unref();
    }),
  );
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

const unitMs: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Of a rate such as `rate(10 minutes)`; not a number for a cron expression. */
function millisecondsOf(rate: string): number {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(rate) ?? [];
  return Number(count) * (unitMs[unit] ?? Number.NaN);
}
