import { expect } from 'chai';

/** Fails unless a record tells one time in both forms, DD/MM/YYYY HH:MM:SS and ISO 8601. */
export function expectBothForms(record: { created_at: string; created_at_iso: string }): void {
  const { created_at, created_at_iso } = record;
  expect(new Date(created_at_iso).toISOString()).to.equal(created_at_iso);
  const [, day, month, year, time] = /^(\d\d)\/(\d\d)\/(\d{4}) (\d\d:\d\d:\d\d)$/.exec(created_at)!;
  expect(created_at_iso.startsWith(`${year}-${month}-${day}T${time}.`), created_at_iso).to.equal(
    true,
  );
}
