import { actors } from './access-actors.ts';
import { type AccessCase, accessCases } from './access-cases.ts';
import { type CheckOptions, CheckRun, sampleOf } from './check.ts';
import { personalTokens, populate } from './fixtures.ts';
import type { Harness, HarnessAnswer } from './harness.ts';
import { checkProtectedFields } from './protected-fields.ts';
import type { Report } from './report.ts';
import { differences, readTable, restoreTable } from './stores.ts';

/** How many cases are tried; the short form draws some. */
export const caseCount = { short: 260, usual: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };

/** Every actor tries every request: an allowed one succeeds, and a rejected one leaves the table byte-identical. */
export async function checkAccess(options: CheckOptions): Promise<Report> {
  const run = new CheckRun(options);
  const { harness, length, seed, properties } = options;
  await populate(harness);
  const before = await readTable();
  for (const accessCase of properties ? [] : sampleOf(accessCases(), caseCount[length], seed)) {
    harness.simulation.reset();
    const answer = await attempt(harness, accessCase);
    const after = await readTable();
    const changed = differences(before, after);
    verify(run.report, accessCase, answer, changed, harness.simulation.received.length);
    if (changed.length > 0) await restoreTable(before, after);
  }
  await checkProtectedFields(run);
  return run.report;
}

function attempt(harness: Harness, { actor, operation, request }: AccessCase): Promise<HarnessAnswer> {
  const authorization = actors[actor](harness);
  const body = request.body as { personal_access_token?: keyof typeof personalTokens } | undefined;
  const kind = body?.personal_access_token;
  const withToken = kind
    ? { ...request, body: { ...body, personal_access_token: personalTokens[kind] } }
    : request;
  return harness.call(operation, { ...withToken, headers: { authorization } });
}

const writes = ['update-node', 'publish-node-version', 'update-host-node'];

function verify(
  report: Report,
  { name, actor, operation, rejections }: AccessCase,
  answer: HarnessAnswer,
  changed: string[],
  sent: number,
): void {
  const isDone = answer.status < 300;
  report.count(isDone ? 'cases allowed' : 'cases rejected');
  const isRight = rejections.length === 0 ? isDone : rejections.includes(answer.body.error);
  if (!isRight)
    report.violate(`${actor}: ${name}`, `expected ${rejections.join(' or ') || 'success'}`, answer.text);
  if (!isDone && changed.length > 0) report.violate(`${actor}: ${name} was rejected, but changed`, changed);
  if (!isDone && sent > 0) report.violate(`${actor}: ${name} was rejected, but reached the provider`);
  if (isDone && writes.includes(operation) && changed.length === 0)
    report.violate(`${actor}: ${name} succeeded, but changed nothing`);
}
