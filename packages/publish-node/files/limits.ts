import { archiveLimits } from '../../../lib/archives/limits.ts';

/** What the registry takes; its operator may allow archives of another size. */
export const limits = { ...archiveLimits, archiveBytes: 100_000_000 } as const;
