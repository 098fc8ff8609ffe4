/** Text that is already HTML. Only `html` creates it, so a caller's text is never treated as markup. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Markup | string | number | undefined | false | readonly Content[];

/** HTML whose inserted values are escaped unless they are markup themselves; lists are joined. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(strings.reduce((text, part, place) => text + written(values[place - 1]) + part));
}

function written(content: Content): string {
  if (content instanceof Markup) return content.text;
  if (content === undefined || content === false) return '';
  return typeof content === 'object' ? content.map(written).join('') : escaped(String(content));
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => String(entities[letter]));
}
