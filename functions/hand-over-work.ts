// Each minute: queues the work that is due
export { handOverWork as handler } from '../lib/work/hand-over.ts';
