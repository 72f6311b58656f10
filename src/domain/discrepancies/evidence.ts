import { isDeepStrictEqual } from 'node:util';

/** One of the findings that a discrepancy is about. */
export interface Evidence {
  /** ISO 8601. */
  found_at: string;
  /** The movement that waits in suspense for the decision. */
  movement_id: string | null;
  amount_cents: number | null;
  details: Record<string, unknown>;
  /** Somebody has decided about it. Later findings have opened the discrepancy anew. */
  decided: boolean;
}

/** A finding that is not stored yet. */
export type Finding = Omit<Evidence, 'found_at' | 'decided'>;

/** The findings that one discrepancy keeps. More of them need a person, not a longer list. */
export const MAX_EVIDENCE = 20;

/** Tells whether the evidence has a finding. The same news in another callback is the same. */
export function hasFinding(evidence: Evidence[], finding: Finding): boolean {
  return evidence.some((each) => isDeepStrictEqual(factsOf(each), factsOf(finding)));
}

function factsOf({ movement_id, amount_cents, details }: Finding) {
  const { callback_id: _, ...facts } = JSON.parse(JSON.stringify(details));
  return { movement_id, amount_cents, facts };
}

/** Returns the evidence after a decision, with room for the finding that opens it anew. */
export function decidedEvidence(evidence: Evidence[]): Evidence[] {
  return evidence.slice(1 - MAX_EVIDENCE).map((each) => ({ ...each, decided: true }));
}
