/** What a finalizer checks in its 300 s: it inflates about 80 MB a second. More than 65,535 entries would need zip64. */
export const archiveLimits = {
  /** Unless the operator sets another. */
  archiveBytes: 100_000_000,
  entries: 10_000,
  unpackedBytes: 1_000_000_000,
  unpackedRatio: 100,
} as const;
