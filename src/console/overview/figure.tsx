import type { ComponentChildren } from 'preact';
import type { Tone } from '../shell/status.tsx';

/** A figure. Its tone says whether somebody has to look. */
export function Figure({
  label,
  value,
  tone = 'plain',
  path,
}: {
  label: string;
  value: ComponentChildren;
  tone?: Tone;
  path?: string;
}) {
  return (
    <>
      <dt>{path ? <a href={path}>{label}</a> : label}</dt>
      <dd class={tone}>{value}</dd>
    </>
  );
}

/** The tone of a count that should be zero. */
export function toneOf(count: number, tone: Tone): Tone {
  return count > 0 ? tone : 'good';
}
