/** S3 writes keys into its events as forms do: percent-encoded, a plus sign too, with + for a space. */
export function encodeEventKey(key: string): string {
  return new URLSearchParams({ key }).toString().slice('key='.length).replaceAll('%2F', '/');
}
