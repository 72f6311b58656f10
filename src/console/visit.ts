import type { Request } from 'express';
import type { VNode } from 'preact';
import type { StaffSession } from '../domain/credentials/staff-session.ts';
import type { OperatorRefusal } from '../domain/errors.ts';
import type { StaffMember } from '../domain/staff/staff.ts';
import type { QueueReader } from '../jobs/queue-reader.ts';
import type { Comparisons } from '../service/comparisons.ts';
import type { Service } from '../service/service.ts';

/** The parts that the console works with. All pages share the connections to the queues. */
export type ConsoleService = Service & { comparisons: Comparisons; queueReader: QueueReader };

/** A request that may use its route. */
export interface OpenVisit {
  service: ConsoleService;
  req: Request;
  params: Record<string, string>;
  /** The fields of the address and of the form that are texts, without spaces around them. */
  query: Readonly<Record<string, string>>;
  form: Readonly<Record<string, string>>;
  /** Every form must carry it. */
  csrfToken: string;
  /** The caller's address; null when the connection is gone. */
  ip: string | null;
  /** The notices above everything else on the page. Handlers add to them. */
  warnings: string[];
  /** Says what the form before this page has done. */
  done?: string | undefined;
  /** The number of requests that wait for this member's decision. */
  approvals?: number;
}

/** A request of somebody who has given a password. */
export interface ProvenVisit extends OpenVisit {
  member: StaffMember;
  session: StaffSession;
}

/** A request of a member whose role may use the route. */
export type Visit = ProvenVisit;

/** The answer of a handler. */
export type Answer =
  | {
      /** A whole page, without the layout that all have. */
      page: VNode;
      title: string;
      status?: number;
      /** Why nothing was done. Its security event is recorded before the answer. */
      refusal?: OperatorRefusal;
    }
  /** A part of a page. */
  | { part: VNode }
  /** A file to keep, part by part. */
  | { file: AsyncIterable<string>; name: string; type: string }
  /** Another page, after a form that was taken. `done` says there what was done, once. */
  | { goTo: string; done?: string };

export type Handler<Kind extends OpenVisit = Visit> = (visit: Kind) => Promise<Answer>;

/** Answers a request with a page that says what is wrong, and what to do. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
