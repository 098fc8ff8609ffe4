/** The most that a finalizer can check in 300 s at about 80 MB a second. Over 65,535 entries need zip64. */
export const archiveLimits = {
  /** Unless the operator sets another. */
  archiveBytes: 100_000_000,
  entries: 10_000,
  unpackedBytes: 1_000_000_000,
  unpackedRatio: 100,
} as const;
