// GET /proxy/…: what is known of a task, at the providers' own paths
import { taskResults } from '../lib/http/task-results.ts';

export const handler = taskResults;
