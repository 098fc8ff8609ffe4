// The table's stream: keeps the public data of the registry as files
export { writeIndex as handler } from '../lib/index/stream-events.ts';
