// The table's stream: what anyone may read of the registry is kept as files
import { writeIndex } from '../lib/index/stream-events.ts';

export const handler = writeIndex;
