/** Whether a text is an absolute http or https URL. */
export function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^/]/i.test(value) && URL.canParse(value);
}
