import { hash } from 'node:crypto';
import { type AttemptRecord, attemptRecord } from '../attempts/attempt.ts';
import { callerHash } from '../caller.ts';
import type { ProviderName } from '../config.ts';
import type { Context } from '../context.ts';
import type { TaskState } from '../schemas/video.ts';
import { typedRead } from '../store/items.ts';
import { attemptKey, type Key, notificationKey, taskKey } from '../store/keys.ts';
import { get, readAll } from '../store/read.ts';
import { windowSeconds } from '../windows.ts';
import { lanes, type Owing } from '../work/lanes.ts';

/** A task whose provider notifies this service. Its key is the hash of the secret in the URL that the provider calls. */
export interface TaskRecord extends Owing {
  at: string;
  provider: ProviderName;
  caller: string;
  /** The caller's URL for notifications. */
  address?: string | undefined;
  /** The name of the attempt that bought it, whose record alone has the outcome and the money. */
  attempt: string;
  /** The id of the request that bought the task. */
  request_id: string;
  /** The object in the bucket that shows the task's status. Readers of this record may know it. */
  status_key: string;
  /** From the first notification that has it. The attempt has the ID that was answered. */
  task_id?: string | undefined;
  /** The last accepted state; undefined before the first. */
  state?: TaskState;
  /** The provider's last unknown word since then. */
  provider_state?: string;
  /** When the last notification was written, by a clock that never goes back. */
  reported_at?: string;
  /** Whether a report of success has named the results. */
  has_media?: boolean;
  /** The number of notifications written. */
  sequence: number;
  revision: number;
  /** In seconds, for DynamoDB. */
  ttl: number;
}

export const taskRecord = typedRead<TaskRecord>();

/** Compared here, because DynamoDB deletes expired records up to two days late. */
export function isExpired({ ttl }: TaskRecord): boolean {
  return ttl * 1000 <= Date.now();
}

/** The attempt that bought a task. What ends it is one write, so an eventual read has all of its end or nothing. */
export async function readAttempt(
  context: Context,
  { caller, attempt }: TaskRecord,
): Promise<AttemptRecord | undefined> {
  const key = attemptKey(callerHash(caller), attempt);
  return attemptRecord((await readAll(context, [key], { eventually: true }))[0]);
}

export async function readTask(context: Context, hashOfSecret: string): Promise<TaskRecord | undefined> {
  return taskRecord((await get(context, taskKey(hashOfSecret)))[0]);
}

const { from, until } = lanes.poll.ageSeconds;
/** The time from a task's start to its first poll. Off-peak tasks usually wait for hours. */
const firstAfterMs = { usual: from * 1000, offPeak: 60 * 60_000 };

/** By then a task has ended, or its end will stay unknown. */
export const givenUpAfterMs = until * 1000;

/** When to poll a task for the first time. */
export function firstPollAt(startedAt: number, isOffPeak: boolean): number {
  return startedAt + firstAfterMs[isOffPeak ? 'offPeak' : 'usual'];
}

/** One change of a task's state, to be delivered to the caller. */
export interface NotificationRecord extends Owing {
  /** The same in every try, so that a receiver can recognize a repeated one. */
  id: string;
  /** Undefined if the caller only reads the task's status. */
  address?: string | undefined;
  /** The object in the bucket that shows the task's status. */
  status_key: string;
  /** The provider's body with the fields of all notifications, and with the caller's URL in place of ours. */
  body: string;
  state: TaskState;
  /** The provider's word for the state, if we don't know it. */
  provider_state?: string | undefined;
  at: string;
  tries: number;
  /** `shown`: without a URL of the caller, publishing the status completes the delivery. */
  result: 'pending' | 'delivered' | 'shown' | 'gone' | 'failed';
  /** The receiver's response is never shown. */
  last_status?: number;
  delivered_at?: string;
  /** In seconds, for DynamoDB. */
  ttl: number;
}

export const notificationRecord = typedRead<NotificationRecord>();

/** How long tasks and notifications are kept after the last write; an off-peak task may take 48 hours. */
const keptForDays = 14;

export function ttlFrom(time: number): number {
  return Math.ceil(time / 1000) + keptForDays * windowSeconds('day');
}

export function taskHash(secret: string): string {
  return hash('sha256', secret);
}

/** 162 bits in 27 characters. */
const nameLength = 27;

/**
 * The name of a task's status object, derived from the secret. It isn't derived from the secret's hash,
 * because receivers see that.
 */
export function statusKey(secret: string): string {
  return `status/${hash('sha256', `status:${secret}`, 'base64url').slice(0, nameLength)}.json`;
}

/** The beginning of a secret's hash, for finding a task's lines in the log. */
export function hashPrefix(hashOfSecret: string): string {
  return hashOfSecret.slice(0, 16);
}

/** Contains the whole key, so that a receiver can report a notification by its id. */
export function notificationId(hashOfSecret: string, sequence: number): string {
  return `msg_${hashOfSecret}_${sequence}`;
}

/** The keys of the notification that an id names, and of its task. */
export function keysOfNotification(id: string): [notification: Key, task: Key] | undefined {
  const [, hash = '', sequence] = /^msg_([0-9a-f]{64})_(\d{1,4})$/.exec(id) ?? [];
  return sequence === undefined ? undefined : [notificationKey(hash, Number(sequence)), taskKey(hash)];
}

/** The public keys for receivers: one key, or two during a rotation, separated by a space. */
export interface SigningKeysRecord extends Key {
  public_keys: string;
  at: string;
}

export const signingKeysRecord = typedRead<SigningKeysRecord>();
