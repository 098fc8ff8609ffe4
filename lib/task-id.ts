const shape = /^[\x21-\x7e]{1,256}$/;

/** An id must be usable in the request that asks for its task. */
export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && shape.test(value);
}
