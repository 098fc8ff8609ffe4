// Each minute: queues the work that is due
import { handOverWork } from '../lib/work/hand-over.ts';

export const handler = handOverWork;
