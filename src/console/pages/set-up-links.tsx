import type { ComponentChildren } from 'preact';
import type { OpenSetUp } from '../../domain/credentials/set-ups.ts';
import { Time } from '../shell/links.tsx';

const NAMES = {
  password: 'Link to set the password',
  app: 'Link to read the secret',
  own: 'Link to read the webhook secret',
} as const;

/** The links by e-mail that were not used, as facts of their user or app. */
export function linkFacts(links: readonly OpenSetUp[]): [string, ComponentChildren][] {
  return links.map(({ secret_kind, good_until }) => [
    NAMES[secret_kind ?? 'password'],
    good_until ? (
      <>
        sent and not used, good until <Time at={good_until} />
      </>
    ) : (
      'goes out by e-mail'
    ),
  ]);
}
