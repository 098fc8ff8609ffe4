const shape = /^[\x21-\x7e]{1,256}$/;

/** What nobody could use to ask for a task is no id. */
export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && shape.test(value);
}
