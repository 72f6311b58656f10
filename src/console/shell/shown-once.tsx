import type { Answer } from '../visit.ts';

interface ShownOnce {
  title: string;
  /** The kind of value, such as `secret`. */
  what: string;
  secret: string;
  /** The consequences, one line each. */
  lines: readonly string[];
  /** The address of the next page. */
  back: string;
}

/** Shows a secret that is stored nowhere in plain text. Neither session nor cache keeps this page. */
export function shownOnce({ title, what, secret, lines, back }: ShownOnce): Answer {
  const page = (
    <section class="card">
      <h1>{title}</h1>
      <p class="warning">
        This is the {what}. It is shown only this once: copy it now, and hand it over safely.
      </p>
      <pre id="secret">{secret}</pre>
      <p class="buttons">
        <button type="button" data-copy="secret">
          Copy
        </button>
        <a href={back}>I have copied it</a>
      </p>
      <ul>
        {lines.map((line) => (
          <li>{line}</li>
        ))}
      </ul>
    </section>
  );
  return { page, title };
}
