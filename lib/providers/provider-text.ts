const maxTextLength = 300;

/**
 * A provider's text, fit to be shown to our caller: one line, short, and without what it may repeat of the
 * request, which is our key or an image.
 */
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
