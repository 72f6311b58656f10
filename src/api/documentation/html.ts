/** Text that is HTML already. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Marks a text as HTML. */
export function raw(text: string): Raw {
  return new Raw(text);
}

/** A template whose values are escaped, unless they are HTML already. */
export function html(parts: TemplateStringsArray, ...values: (string | Raw)[]): string {
  return parts.reduce((text, part, index) => {
    const value = values[index - 1]!;
    return text + (value instanceof Raw ? value.text : escapeHtml(value)) + part;
  });
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
