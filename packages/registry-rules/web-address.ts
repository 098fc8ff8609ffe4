/** No URL has these unescaped, and a page that shows one would end its attribute there. */
const neverInAddress = /[\s"<>\\`\p{Cc}]/u;

/** Whether a text is an absolute http or https URL. The parser alone accepts `http:host` and skips spaces. */
export function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(value) && !neverInAddress.test(value) && URL.canParse(value);
}

/**
 * Whether a page would run a text that it puts into a link or an image. Browsers skip control characters and
 * spaces before a URL, and tabs and line ends inside it.
 */
export function isRunByPage(value: string): boolean {
  const address = value.replace(/[\t\r\n]/g, '').replace(/^[\p{Cc}\s]+/u, '');
  return /^(?:javascript|vbscript):/i.test(address) || /^data:(?!image\/)/i.test(address);
}
