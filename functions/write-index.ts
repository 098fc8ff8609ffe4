// The table's stream: keeps the public data of the registry as files
import { writeIndex } from '../lib/index/stream-events.ts';

export const handler = writeIndex;
