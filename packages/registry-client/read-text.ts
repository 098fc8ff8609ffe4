/** The text of a response. Stops reading and returns undefined above a number of decompressed bytes. */
export async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** S3 answers 403 with XML for a missing file; any other 403 is a proxy's, and means nothing for the file. */
export function isAbsent({ status }: Response, text: string): boolean {
  return status === 404 || (status === 403 && /<Error>|<Error\/>/.test(text));
}

/** Undefined if it isn't JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
