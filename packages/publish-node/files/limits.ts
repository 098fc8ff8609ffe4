/** What the registry takes unless its operator says otherwise; a test holds these to its own defaults. */
export const limits = {
  entries: 10_000,
  archiveBytes: 100_000_000,
  unpackedBytes: 1_000_000_000,
  unpackedRatio: 100,
} as const;
