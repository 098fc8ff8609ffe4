import { Unknown } from './plain.ts';

/** Known bytes, as characters up to 255. For all but a few functions they are unknown. */
export class Bytes extends Unknown {
  readonly text: string;

  constructor(text: string) {
    super('bytes');
    this.text = text;
  }
}

/** A text in UTF-8; undefined for one that Python can't encode. */
export function encoded(text: string): Bytes | undefined {
  return text.isWellFormed() ? new Bytes(Buffer.from(text).toString('latin1')) : undefined;
}

/** The text of UTF-8; undefined for other bytes. */
export function decoded({ text }: Bytes): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return undefined;
  }
}
