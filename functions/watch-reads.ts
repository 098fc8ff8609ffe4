// Each minute: reads what anyone may read as its readers do, through the distribution
import { watchReads } from '../lib/downloads/watch-reads.ts';

export const handler = watchReads;
