import { downloadUrl } from '../bucket/object-keys.ts';
import { writeIfMatches } from '../bucket/public-file.ts';
import * as config from '../config.ts';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { describeError, log, withLogFields } from '../log.ts';
import { httpRequest } from '../outgoing/http-request.ts';

/*
 * Nothing else notices if the distribution serves no one: it calls none of our functions. Each kind of public
 * object has its own part of the bucket's policy, so one of each is read. They are never cached, and their
 * keys name no archive, so a read counts as no download.
 */
const kinds = ['archives', 'index', 'status', 'pages'] as const;
const text = 'Read each minute by watchReads.\n';
const timeoutMs = 5000;

export async function watchReads(_: unknown, invocation: EventInvocation): Promise<void> {
  const context = contextOf(invocation);
  const fields = { function: 'watchReads', function_request_id: invocation.awsRequestId };
  await withLogFields(fields, async () => {
    const problems = await Promise.all(kinds.map((kind) => problemOf(context, kind)));
    const failed = kinds.flatMap((kind, place) => (problems[place] ? { kind, ...problems[place] } : []));
    log(failed.length > 0 ? 'error' : 'info', 'reads', { failed, failed_reads: failed.length });
  });
}

/** Why readers of this kind are not served; undefined if they are, or if the stage doesn't serve it. */
async function problemOf(context: Context, kind: (typeof kinds)[number]): Promise<object | undefined> {
  const key = `${kind}/-watched`;
  const { WATCHED_SITE_URL: siteUrl } = config.watchedSite();
  const url = kind === 'pages' ? siteUrl && `${siteUrl}/${key}` : downloadUrl(key);
  if (!url) return undefined;
  try {
    const reply = await httpRequest({ url: new URL(url), method: 'GET', timeoutMs, maxReplyBytes: 100_000 });
    if (reply.status === 200 && reply.body.toString() === text) return undefined;
    // A new stage doesn't have it yet, and a status expires. The next run reads it.
    await writeIfMatches(context, {
      key,
      text,
      contentType: 'text/plain',
      cacheControl: 'no-store',
      etag: undefined,
    });
    return { status: reply.status };
  } catch (error) {
    return describeError(error);
  }
}
