/**
 * For each alarm: its meaning, the places to check after "See", and the remedy; then what stays broken until then. Each
 * makes a row of docs/runbook.md and a mail. alarms.ts defines when they fire.
 */

export const texts = {
  stageDown:
    'Requests fail because of the stage, its public files can’t be read, or all background work stands still. See the alarms that fire with it; AWS’s health in the region. Since a deployment: [roll back](#roll-back). Until then: see those alarms.',
  faults:
    'Requests got 500: a function returned `internal_error`, crashed, ran out of time or memory, or can’t be called. See the saved query “faults by cause”; `route` and `function_request_id` of the access log’s lines with this status; a `secret` line names a bad secret. Since a deployment: [roll back](#roll-back). Until then: callers get 500.',
  faultsWork:
    'Functions behind requests crashed, ran out of time or memory, or failed an event. See the saved query “faults by cause”. Since a deployment: [roll back](#roll-back). Until then: work is repeated.',
  slow: 'One in 20 requests takes the service longer than 2 s, without the provider’s time. See the saved query “requests by code and caller” for the function; `cold_start` in its lines. Check table throttles and the token issuer. Until then: callers wait.',
  slowProviders:
    'One in 20 calls of a provider takes longer than 15 s. See `provider_ms` by `provider`. Tell the provider. Until then: callers wait.',
  throttles:
    'Lambda throttles functions: the account’s concurrency in the region or a reservation is used up. See `ConcurrentExecutions` and its quota; `provider_ms`; lines by `principal`. Raise the quota or the reservation, limit the caller, or lower `rateLimit`. Until then: callers get 503, uncharged; work waits.',
  serverErrors:
    'Over 5 % of requests got a 5xx, in 3 of 5 minutes or (`repeated-`) three times an hour. See 5xx lines by `code`; `gateway_error` of the access log. Remove what `causes` names. Until then: callers retry; a purchase without a key may be paid twice.',
  clientErrors:
    'Over half of at least 20 requests got a 4xx. See lines by `code` and `principal`; 429 in the access log. `unauthorized`: check the issuer and its keys. 429: raise `rateLimit`. One caller: disable it at the issuer. Until then: those callers get nothing.',
  tableThrottles:
    'DynamoDB throttles the table or its index. See lines with `throttled`. `MaxOnDemandThroughputExceeded`: raise `tableMaxReads` or `tableMaxWrites`. `KeyRangeThroughputExceeded`: limit the caller. Until then: those requests get 503 with `Retry-After`; work is repeated.',
  providerCredentials:
    'A provider rejects our key. See `provider` of the lines. [Store a valid key](#keys-and-tokens). Until then: that provider’s requests fail, uncharged.',
  providerQuota:
    'Our account at a provider has no credits. See `provider` of the lines. Buy credits. Until then: that provider’s requests fail, uncharged.',
  providerErrors:
    'Over 20 % of a provider’s calls failed. See `provider_status` by `provider`. Tell the provider. Afterwards, run `usage conclude` for what it didn’t charge. Until then: callers get 502 or 504; each such call holds its ceiling.',
  noSuccess:
    'Several callers made at least 10 calls of an operation in 30 minutes. The provider accepted none. See lines by `function`, `code`, `provider_status` and `causes`. 404: correct the provider’s URL. 400: check whether its API changed. 429: ask it for a higher limit. Until then: nobody can use that operation.',
  credits:
    'The providers charged more than `creditsPerHourAlarm` in an hour. See lines with `credits` by `principal`. Leaked token: [block its caller](#keys-and-tokens). Growth: raise the parameter. Until then: more is spent, within callers’ limits.',
  ceiling:
    'A task cost more than its ceiling. See `credits_above_ceiling`. Raise its rate in `creditRates` now. Until then: a caller’s limit isn’t exact.',
  lostChanges:
    'Changes of the public index were given up. See `index` lines with `causes`. Remove the cause, run `npm run admin -- index rebuild $on`, then purge the queue. Until then: readers see the old state of those nodes, even of banned ones.',
  oldChanges:
    'A change of the public index has waited over an hour in its queue. See `index` lines with `causes`, throttles and the event source of `writeIndex`. Remove the cause. Until then: readers see the old state of those nodes, even of banned ones.',
  bucketSize:
    'The archives take more than 500 GB. See `npm run admin -- publisher list --by-size $on`, `node list --by-size $on`. Growth: raise the bound in `infra/template/alarms.ts`. One publisher: ask it. Until then: only the bill grows.',
  noDownloads:
    'No daily count of downloads has ended for 36 hours. See lines and throttles of `countDownloads`. Enable its rule: the next run counts a week. Until then: counts are old.',
  noCatalog:
    'Lists, feed and sitemap have not been renewed for 15 minutes. See lines and throttles of `writeCatalog`. Enable its rule. Until then: lists and search are old.',
  workSilent:
    'The function `handOverWork` doesn’t run. See its `hand_over` lines, faults and throttles. Enable its rule. Until then: work whose message was lost, or that waits above 15 minutes, stands still.',
  workAge:
    'Work of the lane has waited too long. See `work` and `hand_over` lines with the `lane`; faults, throttles and event source of its function. Remove the cause: the work goes on by itself. Slow receivers or packs: raise `maximumConcurrency` in `serverless.yml`. Many polls: raise `perSecond` in `lib/work/lanes.ts`. Until then: the lane’s work waits.',
  workFailing:
    'One item of work has failed four times in a row. See `work` lines with `failed`; [work show](#work-that-waits) with its key. Remove the cause: it goes on by itself. Until then: that work waits.',
  workGivenUp:
    'Work of a lane was given up after its last try. See `work` lines by `lane` and `causes`; [work list --given-up](#work-that-waits). Remove the cause, and [send notifications again](#notifications). Until then: that work is undone.',
  indexAge:
    'The public index is over 5 minutes behind, or no heartbeat has reached it for 15 minutes. See `index` and `heartbeat` lines, throttles and the event source of `writeIndex`. Remove the cause. After a day, the stream has lost changes: run `npm run admin -- index rebuild $on`. Until then: readers see the old state, even of what is banned.',
  failedReads:
    'Readers can’t get archives, the index, statuses or pages, or `watchReads`, which tries this each minute, has stopped. See `failed` in its `reads` lines. Status 403: check the bucket’s policy. Another one: check CloudFront’s health and the site’s DNS record. No lines: enable its rule. Until then: nobody downloads, searches or reads a status.',
  downloadBytes:
    'The distributions sent more than `gigabytesPerHourAlarm` in an hour. See their logs in `<bucketName>-logs`, with `accessLogs=on`. Attack: set `webAclArn` to an ACL with a rate rule. Growth: raise the parameter. Until then: only the bill grows.',
  bulkThrottles:
    'Bulk requests above `bulkRateLimit` get 429, over one a second. See `ip` in the access log’s lines of that route. One address: put a distribution before the API (docs/capacity.md). Many: have clients read the index, or raise `bulkRateLimit`. Until then: clients of bulk wait and repeat.',
  unknownStates:
    'A provider named an unknown state of a task. See `unknown_state` lines. Add the word to `providerStates`. Until then: those tasks keep their last state.',
};
