/** No address has these unescaped, and a page that shows one would end its attribute at them. */
const neverInAddress = /[\s"<>\\`\p{Cc}]/u;

/** Whether a text is an absolute http or https URL. The parser alone also takes `http:host` and skips blanks. */
export function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(value) && !neverInAddress.test(value) && URL.canParse(value);
}
