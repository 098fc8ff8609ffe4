import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { NotificationRecord } from '../../lib/notifications/records.ts';
import { callerHash } from '../../lib/caller.ts';
import { usageRecord } from '../../lib/spend/usage-records.ts';
import { usageKey } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { call as callEndpoint } from '../support/endpoints.ts';
import { sampleEvent } from '../support/invoke.ts';
import { type LogReader, readLog } from '../support/log-reader.ts';
import {
  type History,
  histories,
  type PaidTask,
  type ProviderCall,
  requestOf,
  stateSaid,
} from '../support/notified-calls.ts';
import {
  deliver,
  type Followed,
  type Stored,
  stored,
  verifyArrivals,
  verifyNotifications,
  verifyStatus,
  verifyStep,
} from '../support/notified-tasks.ts';
import { check, count, counts } from 'testing/property-runs';
import { simulation } from '../support/proxies.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { bearer } from '../support/tokens.ts';
import { injectFaults, planOf, underPlan } from '../support/wire-faults.ts';

const remainingMs = 20_000;

/**
 * Every change of a task that the provider was told is taken leads to one notification, which arrives, signed, however
 * its receiver answers first; no state moves back, and nothing is stored or arrives that the provider did not say. Calls
 * that are not the provider's change nothing, and get one answer.
 */
test('delivers each change of a task, signed, and nothing that the provider did not say, whatever fails', async () => {
  const faults = await injectFaults();
  const log = readLog();
  const receiver = await startReceiver();
  const rejections = new Set<string>();
  try {
    await check(histories, (history) => new Trial(log, receiver, rejections).follow(history));
  } finally {
    faults.stop();
    log.stop();
    await receiver.stop();
  }

  expect(log.leaks).toEqual([]);
  expect(counts.arrivals).toBeGreaterThan(0);
  expect(counts['forged calls answered 404']).toBeGreaterThan(0);
});

/** One history, from its paid requests on. */
class Trial {
  readonly #log: LogReader;
  readonly #receiver: Receiver;
  /** All answers to calls that were rejected, in this and every other history. */
  readonly #rejections: Set<string>;
  readonly #tasks: Followed[] = [];
  #number = 0;

  constructor(log: LogReader, receiver: Receiver, rejections: Set<string>) {
    this.#log = log;
    this.#receiver = receiver;
    this.#rejections = rejections;
  }

  async follow({ tasks, calls, deliveries }: History): Promise<void> {
    simulation.reset();
    this.#receiver.received.length = 0;
    this.#receiver.scripts.clear();
    for (const task of tasks) await this.#pay(task);
    const usual = this.#log.secrets.length;
    this.#log.secrets.push(...this.#tasks.map(({ ticket }) => ticket));
    if (this.#tasks.length > 0) for (const group of groupsOf(calls)) await this.#send(group);
    for (const task of this.#tasks) await this.#verifyEnd(task);
    const delivered = await deliver(() => this.#allNotifications(), deliveries);
    for (const task of this.#tasks) await verifyStatus(task);
    verifyArrivals(delivered, this.#receiver.received);
    this.#log.secrets.length = usual;
  }

  async #allNotifications(): Promise<NotificationRecord[]> {
    return (await Promise.all(this.#tasks.map(stored))).flatMap(({ notifications }) => notifications);
  }

  /** Asks for a task. The provider's request has the ticket, whatever became of the answer. */
  async #pay({ operation, hasAddress, strikes, answers }: PaidTask): Promise<void> {
    const user = `notified-${randomUUID()}`;
    const address = `${this.#receiver.url}/${user}`;
    this.#receiver.scripts.set(`/${user}`, [...answers]);
    const field = operation === 'relight-image' ? 'webhook_url' : 'callback_url';
    const body = {
      ...JSON.parse(String(sampleEvent(operation).body)),
      ...(hasAddress && { [field]: address }),
    };
    const headers = { authorization: bearer(user) };
    const before = simulation.received.length;
    const { status } = await underPlan(planOf(strikes), () =>
      callEndpoint(operation, { headers, body, remainingMs }),
    );
    count(`paid requests answered ${status}`);
    const sent = simulation.received[before];
    const [, provider, ticket] = /\/notifications\/(\w+)\/(.+)$/.exec(String(sent?.body[field])) ?? [];
    assert.equal(ticket !== undefined, sent !== undefined, 'who gets a ticket');
    if (provider === undefined || ticket === undefined) return;
    const wanted = hasAddress ? address : undefined;
    const task = { provider, ticket, caller: `user:${user}`, address: wanted, said: new Map() };
    assert.equal((await stored(task)).task.address, wanted, 'stored before it was sent');
    this.#tasks.push(task);
  }

  /** Sends calls at the same moment, and again until they are taken, as a provider does. */
  async #send(group: readonly ProviderCall[]): Promise<void> {
    const before = await Promise.all(this.#tasks.map(stored));
    const numbered = group.map((call) => {
      this.#number += 1;
      return { call, task: this.#taskOf(call), number: this.#number };
    });
    await Promise.all(
      numbered.flatMap(({ call, task, number }) =>
        Array.from({ length: call.copies }, () => this.#sendOne(task, call, number)),
      ),
    );
    for (const [index, task] of this.#tasks.entries()) {
      const genuine = numbered.filter((each) => each.task === task && each.call.kind === 'genuine');
      const said = genuine.map(({ call }) => stateSaid(task.provider, call));
      verifyStep(before[index] as Stored, await stored(task), said);
    }
  }

  #taskOf({ task }: ProviderCall): Followed {
    return this.#tasks[task % this.#tasks.length] as Followed;
  }

  async #sendOne(task: Followed, call: ProviderCall, number: number): Promise<void> {
    const request = { ...requestOf(task, call, number), remainingMs };
    if (call.kind === 'genuine') task.said.set(number, stateSaid(task.provider, call));
    const plan = planOf(call.strikes);
    const answer = await underPlan(plan, () => callEndpoint('receive-notification', request));
    count(`${call.kind} calls answered ${answer.status}`);
    for (const kind of plan.struck) count(`faults: ${kind}`);
    const wanted = call.kind === 'genuine' ? 200 : 404;
    if (answer.status === 404) this.#rejections.add(JSON.stringify(answer));
    assert.ok(this.#rejections.size <= 1, 'rejections can be told apart');
    if (answer.status === wanted) return;
    assert.ok(
      answer.status >= 500 && plan.struck.length > 0,
      `a ${call.kind} call was answered ${answer.status}`,
    );
    // Only an unreadable answer of a store may become an unknown error.
    assert.ok(
      answer.status === 503 || plan.struck.includes('garbage'),
      `${plan.struck} became a ${answer.status}`,
    );
    await this.#sendOne(task, { ...call, strikes: [] }, number);
  }

  /** The usage record says how the task ended, and nothing that is stored has the ticket. */
  async #verifyEnd(followed: Followed): Promise<void> {
    const { task, notifications } = await stored(followed);
    const { caller, ticket } = followed;
    verifyNotifications(task, notifications, followed);
    count(`tasks that ended in ${task.state ?? 'silence'}`);
    const key = usageKey(callerHash(caller), String(task.attempt));
    const usage = usageRecord((await get({ deadline: Date.now() + 60_000 }, key))[0]);
    const isOver = task.state === 'success' || task.state === 'failed';
    assert.equal(usage?.final_state, isOver ? task.state : undefined, 'the final state of the usage record');
    assert.equal(usage?.final_at, isOver ? notifications.at(-1)?.at : undefined);
    assert.ok(!JSON.stringify([task, notifications, usage]).includes(ticket), 'the ticket is stored');
  }
}

/** Calls that arrive together. */
function groupsOf(calls: readonly ProviderCall[]): ProviderCall[][] {
  const groups: ProviderCall[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (call.isTogether && last) last.push(call);
    else groups.push([call]);
  }
  return groups;
}
