interface LoggedRequest {
  at: string;
  request_id: string;
  route: string;
  status: number;
  code?: string;
  ms: number;
}

export interface RequestLog {
  /** Accepts any line that a function logs, and keeps those that end a request. */
  read: (line: string) => void;
  /** Newest first. */
  latest: () => LoggedRequest[];
}

const maxRequests = 50;

export function createRequestLog(): RequestLog {
  const requests: LoggedRequest[] = [];
  const read = (line: string) => {
    if (!line.includes('"event":"request"')) return;
    const { request_id, route, status, code, ms } = JSON.parse(line.slice(line.indexOf('{')));
    requests.unshift({ at: new Date().toISOString(), request_id, route, status, code, ms });
    requests.length = Math.min(requests.length, maxRequests);
  };
  return { read, latest: () => requests };
}
