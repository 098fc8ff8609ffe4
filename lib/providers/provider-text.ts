const maxTextLength = 300;

/** Cleans a provider's text for our caller: one short line, without our key or an image that it may repeat. */
export function cleanText(text: unknown, key: string, maxLength = maxTextLength): string {
  if (typeof text !== 'string') return '';
  const line = text
    .replaceAll(key, '…')
    .slice(0, 100 * maxLength)
    .replace(/[\w+/=-]{64,}/g, '…')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  const shown = line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
  return shown.toWellFormed();
}
