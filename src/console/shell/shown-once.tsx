import type { Answer } from '../visit.ts';

interface ShownOnce {
  title: string;
  /** What it is, such as `secret`. */
  what: string;
  secret: string;
  /** What holds from now on. */
  lines: readonly string[];
  /** Where to go from here. */
  back: string;
}

/** Shows what is stored nowhere in plain text. Neither the session nor a cache keeps this page. */
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
