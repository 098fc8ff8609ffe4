/**
 * For each alarm: its meaning, the places to check after "See", and the remedy. Each makes a line of
 * docs/runbook.md and a mail. alarms.ts defines when they fire.
 */
export const texts = {
  faults:
    'A crash, no time or memory left, or a failed event. See `causes`; `sending` lines without a `request`. Since a deployment: [roll back](#roll-back).',
  internalErrors:
    'The function returned `internal_error`. See `causes`; a `secret` line names a bad secret. Since a deployment: [roll back](#roll-back).',
  slow: 'One request in 20 takes over 2 s (proxies: 15 s). See `ms`, `provider_ms`, `cold_start`, table throttles, the issuer. If `provider_ms` is most of `ms`, tell the provider.',
  serverErrors:
    'Over 5 % of requests got a 5xx, in 3 of 5 minutes or (`repeated-`) three times an hour. See 5xx lines by `code`; the access log’s `gateway_error`. `unavailable`: read `causes`.',
  clientErrors:
    'Over half of at least 20 requests got a 4xx. See lines by `code` and `principal`; 429 in the access log. `unauthorized`: did the issuer or its keys change? 429: raise `rateLimit` (on bulk: see `bulk-throttles`). One caller: disable it at the issuer.',
  functionThrottles:
    'Lambda throttled functions without a reservation. See `ConcurrentExecutions` of the account and its quota. Raise the quota, or lower `rateLimit`.',
  reservedThrottles:
    'A reserved concurrency is used up. See `provider_ms`; lines by `principal`. Limit the caller, tell a slow provider, or raise the reservation.',
  tableThrottles:
    'DynamoDB throttles the table or its index. See lines with `throttled`: `MaxOnDemandThroughputExceeded` is a ceiling, `KeyRangeThroughputExceeded` a hot key. Ceiling: raise `tableMaxReads` or `tableMaxWrites`. Hot key: limit its caller.',
  providerCredentials:
    'The provider rejects our key; all requests fail, uncharged. See who changed the key. [Store a valid key](#keys-and-tokens).',
  providerQuota:
    'Our account has no credits; all requests fail, uncharged. See the provider’s account. Buy credits.',
  providerErrors:
    'Over 20 % of calls failed, timed out or got an invalid reply. See `provider_status`. Tell the provider. Time-outs may have been charged: conclude their attempts afterwards.',
  noSuccess:
    'At least 10 calls in 30 minutes by several callers, and the provider accepted none. See lines by `code`, `provider_status` and `causes`. 404: correct the provider’s URL. 400: did its API change? 429: ask the provider.',
  credits:
    'The providers charged more than `creditsPerHourAlarm` in an hour. See lines with `credits` by `principal`. Leaked token: [block its caller](#keys-and-tokens). Growth: raise the parameter.',
  ceiling:
    'A task cost more than its ceiling. See `credits_above_ceiling`. Raise its rate in `creditRates` now.',
  lostUploads:
    'An upload’s check was given up, so its version stays pending; or a sweep got lost. See `causes` in its lines. Fix the cause, then [redrive](#redrive-dead-letters).',
  lostExtractions:
    'Reading host nodes crashed five times, or failed because of us. See `causes` in its lines. Fix the cause, then [redrive](#redrive-dead-letters).',
  lostChanges:
    'Changes of the public index were given up after ten retries. See `index` lines with `causes`. Fix the cause, `npm run admin -- index rebuild $on`, then purge the queue.',
  oldExtractions:
    'An archive has waited over two hours. See `faults-extractHostNodes`, throttles, `extraction` lines by `outcome`. Too many publishes: raise `maximumConcurrency` in `serverless.yml`.',
  oldChanges:
    'A change of the public index has waited over an hour in its queue. See `index` lines with `causes`, throttles and the event source of `writeIndex`. Remove the cause. A large publisher takes long.',
  bucketSize:
    'The archives take more than 500 GB. See `npm run admin -- publisher list --by-size $on`, `node list --by-size $on`. Growth: raise the bound in `infra/template/alarms.ts`. One publisher: ask it.',
  noSweep: 'The sweep has not run for two hours. See its `faults-` alarm and throttles. Enable the rule.',
  noDownloads:
    'The daily count of downloads has not ended for 36 hours. See its `faults-` alarm and throttles. Enable its rule: the next run counts a week.',
  noCatalog:
    'Lists, pages, feed and sitemap have not been renewed for 15 minutes. See its `faults-` alarm and throttles. Enable its rule.',
  unvisited: 'The sweep leaves work undone. See the sweep’s lines. Remove what keeps failing.',
  foundUploads:
    'The sweep published a version whose event was lost. See the `swept` lines. If repeated, check the bucket’s events and time-outs.',
  foundCommands:
    'A command was interrupted, or a ban missed an archive. See `npm run admin -- publisher list $on` and `copied_during_ban` lines. Run it again.',
  workSilent:
    'No run hands over what waits: messages are still worked off, but lost ones and waits above 15 minutes are not. See `faults-handOverWork` and throttles, `hand_over` lines. Enable its rule.',
  workAge:
    'Work of the lane has waited too long, in its queue or to be handed over. See `work` and `hand_over` lines with the `lane`; the `faults-` alarm, throttles and event source of its function. Remove the cause: the work goes on by itself. Slow receivers or packs: raise `maximumConcurrency` in `serverless.yml`; many polls: `perSecond` in `lib/work/lanes.ts`.',
  workGivenUp:
    'Work of the lane was given up after its last try. See `work` lines with the `lane` by `causes`; [work list --given-up](#work-that-waits). Remove the cause; [notifications](#notifications) can be sent again.',
  indexAge:
    'The public index is over 5 minutes behind, or not even the heartbeat came for 15 minutes. See `index` lines with `causes`, throttles and the event source of `writeIndex`, `heartbeat` lines. Remove the cause. After a day, the stream has lost changes: `npm run admin -- index rebuild $on`.',
  failedReads:
    'The distribution doesn’t serve archives, the index, task statuses or the site’s pages, or `watchReads` doesn’t run. See `failed` in its `reads` lines. 403: the bucket’s policy. Otherwise: CloudFront’s health, the name of the site, the function’s schedule.',
  downloadBytes:
    'The distributions sent more than `gigabytesPerHourAlarm` in an hour. See their logs in `<bucketName>-logs`, kept with `accessLogs=on`. An attack: set `webAclArn` to an ACL with a rate rule. Growth: raise the parameter.',
  bulkThrottles:
    'Bulk requests above `bulkRateLimit` got 429, over one a second: its callers starve one another. See `ip` in the access log’s lines of that route. One address: put a distribution before the API (docs/capacity.md). Clients: have them read known versions from the index. Growth: raise `bulkRateLimit`.',
  unknownStates:
    'The provider named a state of a task that this service doesn’t know. See `unknown_state` lines. Add the word to `providerStates`.',
};
