// GET /proxy/…: what is known of a task, at the providers' own paths
export { taskResults as handler } from '../lib/http/task-results.ts';
