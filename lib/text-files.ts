/** A larger file is no source code, and is not read at all. */
export const maxTextFileBytes = 1_000_000;
export const maxTextBytes = 20_000_000;

/** Whether a file of a pack is text that its host nodes can depend on, by its name. */
export function isTextFile(path: string): boolean {
  return /\.(?:py|json|toml|txt|ya?ml|md|csv|ini|cfg)$/i.test(path);
}
