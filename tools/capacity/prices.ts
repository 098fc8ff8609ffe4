/** Public prices on demand in us-east-1 on 22 November 2026, in dollars a million unless said otherwise. */
export const prices = {
  /** Up to 512 KB each. */
  gatewayRequest: 1,
  invocation: 0.2,
  /** On arm64, for one GB-second. */
  gigabyteSecond: 0.0000133334,
  readUnit: 0.125,
  writeUnit: 0.625,
  put: 5,
  get: 0.4,
  /** Of a standard queue with message groups. */
  queueRequest: 0.5,
  /** For one GB of logs. */
  logs: 0.5,
} as const;

/** The lines of a request: the gateway's, the function's and Lambda's own. */
export const loggedKilobytes = 1.75;
