import type { Payment } from './payment.ts';

/** An incoming payment: a customer is prompted on the phone and pays a merchant. */
export interface Collection extends Payment {
  kind: 'collection';
  app_code: number;
  payfrom: string;
  /** Computed once, at acceptance. Later bookings copy it. */
  commission_cents: number;
  ref_no: string;
  account_number: string;
  callback_url: string;
  category: string;
}
