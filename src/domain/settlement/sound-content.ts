import type { CallbackNews, ParsedCallback, Verdict } from '../gateway-results.ts';
import { storableText } from '../text.ts';

const MAX_TEXT_LENGTH = 500;

/** Returns the content of a callback, or null when it has values that no gateway can mean. */
export function soundContent(content: ParsedCallback | null): ParsedCallback | null {
  if (!content) return null;
  const { reference, verdict } = content;
  if (!isSound(verdict)) return null;
  return {
    reference: reference === null ? null : storableText(reference, MAX_TEXT_LENGTH),
    verdict: storable(verdict),
  };
}

function isSound(verdict: CallbackNews): boolean {
  switch (verdict.outcome) {
    case 'pending':
    case 'notFound':
    case 'unclear':
      return true;
    case 'failed':
      return Number.isInteger(verdict.code) && verdict.code !== 0;
    case 'succeeded':
      return isAmount(verdict.amountCents) && isMoment(verdict.completedAt);
  }
}

function isAmount(cents: number | null): boolean {
  return cents === null || (Number.isSafeInteger(cents) && cents > 0);
}

function isMoment(moment: Date | null): boolean {
  return moment === null || !Number.isNaN(moment.getTime());
}

/** Returns a verdict with texts that PostgreSQL can store, whatever the gateway put there. */
export function storableVerdict<V extends Verdict>(verdict: V): V {
  return storable(verdict);
}

function storable<News extends CallbackNews>(verdict: News): News {
  const fields = Object.entries(verdict).map(([name, value]) => [
    name,
    typeof value === 'string' ? storableText(value, MAX_TEXT_LENGTH) : value,
  ]);
  return Object.fromEntries(fields) as News;
}
