/** Whether the registry takes a text as an address. */
export function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(value) && !/[\s"<>\\`\p{Cc}]/u.test(value) && URL.canParse(value);
}
