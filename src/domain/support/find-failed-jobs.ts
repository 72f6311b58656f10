import type { Database } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';
import {
  type FailedJob,
  type FailedJobFilter,
  type FailedJobPage,
  listFailedJobs,
} from './failed-job-store.ts';
import { requirePayments } from './find-payments.ts';

/** A filter with anything that names a payment, as `findPayments` takes it. */
export type FailedJobSearch = Omit<FailedJobFilter, 'payments'> & { payment?: string | undefined };

/** Lists failed jobs. @throws OperatorRefusal when no payment is meant, or too many. */
export async function findFailedJobs(
  database: Database,
  { payment, ...filter }: FailedJobSearch,
  page: FailedJobPage,
): Promise<FailedJob[]> {
  if (payment === undefined) return listFailedJobs(database, filter, page);
  const { merchant_id } = filter;
  const payments = await requirePayments(database, { what: payment, merchant_id });
  return listFailedJobs(database, { ...filter, payments }, page);
}

/** Reads failed jobs, oldest first. @throws OperatorRefusal when one of them is not there. */
export async function requireFailedJobs(database: Database, ids: number[]): Promise<FailedJob[]> {
  const page = { order: 'oldest first', limit: ids.length } as const;
  const found = await listFailedJobs(database, { ids }, page);
  const missing = ids.find((id) => !found.some((job) => job.id === id));
  if (missing === undefined) return found;
  throw new OperatorRefusal(`There is no failed job ${missing}`);
}
