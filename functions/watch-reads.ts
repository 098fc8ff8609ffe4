// Each minute: reads what anyone may read as its readers do, through the distribution
export { watchReads as handler } from '../lib/downloads/watch-reads.ts';
