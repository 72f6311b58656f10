import { auditedFor } from '../../domain/audited-change.ts';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { beginComparison } from '../../domain/reconciliation/comparison-lease.ts';
import { listImports, type StatementImport } from '../../domain/reconciliation/import-store.ts';
import { compareImport } from '../../domain/reconciliation/reconcile-statement.ts';
import { comparisonWith } from '../../process/reconciliation.ts';
import { auditedBy } from '../access/audited-by.ts';
import { recordView } from '../access/record-view.ts';
import { pathTo } from '../routes.ts';
import { listPage } from '../shell/list-page.tsx';
import { idIn } from '../shell/read-filter.ts';
import { givenReason } from '../shell/reason-form.tsx';
import type { Answer, Visit } from '../visit.ts';
import { StatementForm } from './form.tsx';
import { ImportList } from './list.tsx';
import { breaksOf, importOf, storeDraft } from './query.ts';
import { statementIn } from './read-statement.ts';
import { whyNotAlone } from './second-person.ts';
import { Live, StatementPage } from './view.tsx';

const TITLE = 'Reconciliation';

/** Statements of gateways: upload or fetch one, see what it would do, compare it, and past ones. */
export const reconciliationHandlers = {
  reconciliation: async (visit: Visit): Promise<Answer> => {
    const after = idIn(visit.query, 'after');
    const page = await listPage(
      (limit) => listImports(visit.service.database, { after, limit }),
      ({ id }) => id,
    );
    return { page: <ImportList visit={visit} page={page} />, title: TITLE };
  },

  statementForm: async (visit: Visit): Promise<Answer> => ({
    page: <StatementForm visit={visit} />,
    title: TITLE,
  }),

  statementNew: async (visit: Visit): Promise<Answer> => {
    try {
      const reason = givenReason(visit);
      const draft = await statementIn(visit);
      const audited = auditedBy(visit, 'statementNew', { action: 'reconcile.check', reason });
      const id = await storeDraft(visit.service.database, audited, draft);
      return { goTo: pathTo('statement', { import: id }) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      const page = <StatementForm visit={visit} problem={error.message} />;
      return { page, title: TITLE, status: 422, refusal: error };
    }
  },

  statement: async (visit: Visit): Promise<Answer> => shown(visit, await importOf(visit)),

  statementLive: async (visit: Visit): Promise<Answer> => {
    const statement = await importOf(visit);
    const breaks = await breaksOf(visit, statement);
    return { part: <Live {...{ visit, statement, breaks }} /> };
  },

  statementRun: async (visit: Visit): Promise<Answer> => {
    const statement = await importOf(visit);
    try {
      await begin(visit, statement);
      return { goTo: pathTo('statement', visit.params) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return { ...(await shown(visit, await importOf(visit), error.message)), refusal: error };
    }
  },
};

async function shown(visit: Visit, statement: StatementImport, problem?: string) {
  const breaks = await breaksOf(visit, statement);
  await recordView(visit, {
    ...{ action: 'reconcile.show', merchant_id: null, subject: `statement ${statement.id}` },
    ...{ lookedFor: {}, rows: breaks.rows.length },
  });
  const page = <StatementPage {...{ visit, statement, breaks, problem }} />;
  return { page, title: TITLE, status: problem === undefined ? 200 : 422 };
}

/**
 * Begins the comparison, and does not wait for its end: the gateway may be asked about many
 * payments. The row says that it goes on. If the process stops, it may be begun again.
 */
async function begin(visit: Visit, statement: StatementImport): Promise<void> {
  const { service } = visit;
  const { id, gateway: name, channel, period_from: from, period_to: to } = statement;
  const reason = givenReason(visit);
  const problem = whyNotAlone(visit, statement);
  if (problem !== null) throw new OperatorRefusal(problem);
  const gateway = service.gateways.get(name);
  if (!gateway) throw new OperatorRefusal(`There is no gateway ${name} any more`);
  const audited = auditedBy(visit, 'statementRun', { action: 'reconcile.run', reason });
  await audited(async (trx) => {
    if (!(await beginComparison(trx, id))) {
      throw new OperatorRefusal('Its comparison is under way, or has ended');
    }
    const details = { import_id: id, begun: true };
    return { value: null, audit: { merchant_id: null, subject: `channel ${channel}`, details } };
  });
  const { covers, complete_until } = statement;
  const scope = { import_id: id, gateway: name, channel, period: { from, to } };
  // Whoever logs out meanwhile has begun it all the same.
  const operator = { actor: visit.member.email, action: 'reconcile.run', reason };
  service.comparisons.start(id, (stopping) =>
    compareImport(
      service.database,
      auditedFor(service.database, operator),
      { ...scope, covers, complete_until },
      { ...comparisonWith(service, gateway), stopping },
    ),
  );
}
