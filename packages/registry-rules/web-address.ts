/** No address has these unescaped, and a page that shows one would end its attribute at them. */
const neverInAddress = /[\s"<>\\`\p{Cc}]/u;

/** Whether a text is an absolute http or https URL. The parser alone also takes `http:host` and skips blanks. */
export function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(value) && !neverInAddress.test(value) && URL.canParse(value);
}

/**
 * Whether a page would run a text that it puts into a link or an image. Browsers skip control characters and blanks
 * before an address, and tabs and line ends inside of it.
 */
export function isRunByPage(value: string): boolean {
  const address = value.replace(/[\t\r\n]/g, '').replace(/^[\p{Cc}\s]+/u, '');
  return /^(?:javascript|vbscript):/i.test(address) || /^data:(?!image\/)/i.test(address);
}
