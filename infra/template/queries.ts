/*
 * Queries of the logs of all functions and of the gateway, saved with the stage: CloudWatch, Logs Insights,
 * Saved queries. Only the value in ID must be replaced. Lambda's own lines, such as for a timeout, have only
 * `@requestId`, which is `function_request_id` in the other lines and in the access log.
 */
const found = 'fields @timestamp, @log, @message';

export const savedQueries: Record<string, string> = {
  'one request': `${found} | filter request_id = "ID" or gateway_request_id = "ID" or function_request_id = "ID" or @requestId = "ID" | sort @timestamp`,
  'one caller': `fields @timestamp, function, status, code, credits, request_id | filter principal = "ID" | sort @timestamp desc`,
  'requests by code and caller':
    'filter event = "request" | stats count(*) as requests, sum(credits) as spent, pct(ms, 95) as p95_ms by function, code, status, provider, provider_status, principal | sort requests desc',
  'one node': `${found} | filter node_id = "ID" | sort @timestamp desc`,
  'one task': `${found} | filter provider_task_id = "ID" or task_hash = "ID" | sort @timestamp`,
  'requests that died after sending':
    'filter event in ["sending", "request"] | stats count(*) as lines, min(@timestamp) as at by function_request_id, request_id, function | filter lines = 1 | sort at desc',
  'faults by cause':
    'filter (event = "request" and status >= 500) or level = "error" or @message like /Task timed out|Runtime exited/ | parse @logStream /(?<of>[^\\/]+)\\[/ | stats count(*) as faults by of, release, function_version, event, code, causes.0 | sort faults desc',
};
