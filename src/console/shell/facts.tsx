import type { ComponentChildren } from 'preact';

/** What is known of one thing: names, and what stands beside them. Null is left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl>
      {facts
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}
