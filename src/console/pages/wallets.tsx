import type { MerchantRecord } from '../../domain/merchants/merchant.ts';
import { VEILED } from '../../domain/veil.ts';
import {
  latestTransactions,
  type PlacedTransaction,
  walletBalances,
} from '../../domain/wallets/list-transactions.ts';
import { adoptMovements } from '../../operations/adopt.ts';
import { walletOperations } from '../../operations/wallet.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Facts, Money, Time } from '../shell/links.tsx';
import { operationHandlers, pagesOf } from '../shell/operation.tsx';
import { numberIn } from '../shell/read-fields.ts';
import { type Column, Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';
import { MERCHANT } from './merchants.tsx';

/** Microseconds and the id of a transaction. */
const PLACE = /^(\d{1,16})_([0-9a-f-]{36})$/;

const RECEIPT_BOX = /^receipt (.+)$/;

const place = { resource: MERCHANT, pages: pagesOf(walletOperations) };

/** The wallets of a merchant, with their transactions, top-ups and adjustments. */
export const walletHandlers = {
  wallets: async (visit: Visit): Promise<Answer> => {
    const { database } = visit.service;
    const merchant = await MERCHANT.find(visit);
    const { id: merchant_id } = merchant;
    const after = placeIn(visit.query);
    const balances = await walletBalances(database, merchant_id);
    const page = await listPage(
      (limit) => latestTransactions(database, merchant_id, { after, limit }),
      ({ created_us, transaction_id }) => `${created_us}_${transaction_id}`,
    );
    await recordView(visit, {
      action: 'wallet.show',
      merchant_id,
      subject: `wallets of merchant ${merchant_id}`,
      lookedFor: { merchant_id },
      rows: page.rows.length,
    });
    const shown = <WalletsPage visit={visit} merchant={merchant} balances={balances} page={page} />;
    return { page: shown, title: `Wallets of ${merchant.name}` };
  },

  ...operationHandlers('walletTopup', { ...place, part: 'topup' }),
  ...operationHandlers('walletAdjust', { ...place, part: 'adjust' }),
  ...operationHandlers('adopt', {
    resource: MERCHANT,
    pages: pagesOf([adoptMovements]),
    part: 'adopt',
  }),

  /** Goes on with the movements that were selected in the list of discrepancies. */
  adoptChoice: async ({ query }: Visit): Promise<Answer> => {
    const merchant_id = numberIn(query, 'merchant');
    const receipts = Object.keys(query).flatMap((name) => RECEIPT_BOX.exec(name)?.[1] ?? []);
    if (merchant_id === undefined || receipts.length === 0) {
      throw new ConsoleError(
        422,
        'Select a movement at least, and give the number of the merchant',
      );
    }
    const given = new URLSearchParams({ receipts: receipts.join(',') });
    return { goTo: `${pathTo('adoptForm', { merchant_id })}?${given}` };
  },
};

function placeIn({ after }: Visit['query']) {
  if (!after) return undefined;
  const [, createdUs, id] = PLACE.exec(after) ?? [];
  if (createdUs === undefined || id === undefined) {
    throw new ConsoleError(404, 'There is no such page');
  }
  return { createdUs: Number(createdUs), id };
}

interface Props {
  visit: Visit;
  merchant: MerchantRecord;
  /** In cents. A missing wallet is left out. */
  balances: { collection?: number; payout?: number };
  page: ListPage<PlacedTransaction, string>;
}

/** The balances of a merchant's wallets, and their last entries. */
function WalletsPage({ visit, merchant, balances, page: { rows, next } }: Props) {
  const { id: merchant_id, name } = merchant;
  const path = pathTo('wallets', visit.params);
  return (
    <>
      <h1>Wallets</h1>
      <p>
        of{' '}
        <a href={pathTo('merchant', { merchant_id })}>
          {name} (merchant {merchant_id})
        </a>
      </p>
      <section class="card">
        <Balances balances={balances} />
        {mayUse(visit.member.role, 'walletTopup') && (
          <p class="buttons">
            <a class="button quiet" href={pathTo('walletTopupForm', visit.params)}>
              Top up
            </a>
            <a class="button quiet" href={pathTo('walletAdjustForm', visit.params)}>
              Adjust
            </a>
            <a class="button quiet" href={pathTo('adoptForm', visit.params)}>
              {adoptMovements.title}
            </a>
          </p>
        )}
      </section>
      <h2>Transactions, newest first</h2>
      {rows.length > 0 ? (
        <Table rows={rows} columns={COLUMNS} caption="Transactions" />
      ) : (
        <Empty>No money has moved yet.</Empty>
      )}
      <NextPage path={path} next={next} />
    </>
  );
}

/** The balances of a merchant's wallets. */
export function Balances({ balances: { collection, payout } }: Pick<Props, 'balances'>) {
  const balance = (cents?: number) => (cents === undefined ? 'missing' : <Money cents={cents} />);
  return (
    <Facts
      facts={[
        ['Collection wallet', balance(collection)],
        ['Payout wallet', balance(payout)],
      ]}
    />
  );
}

const COLUMNS: readonly Column<PlacedTransaction>[] = [
  { heading: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
  { heading: 'Wallet', cell: ({ account }) => account.replace('wallet:', '') },
  { heading: 'Type', cell: ({ type }) => type.replaceAll('_', ' ') },
  { heading: 'Amount', cell: ({ amount_cents }) => <Money cents={amount_cents} />, isNumber: true },
  {
    heading: 'Balance after',
    cell: ({ balance_after_cents }) => <Money cents={balance_after_cents} />,
    isNumber: true,
  },
  {
    heading: 'Reference',
    cell: ({ ref_no }) =>
      ref_no === null || VEILED.numbers(ref_no) !== ref_no ? (
        // An address would show what the text hides.
        VEILED.numbers(ref_no ?? '')
      ) : (
        <a href={`${pathTo('search')}?${new URLSearchParams({ q: ref_no })}`}>{ref_no}</a>
      ),
  },
  {
    heading: 'With',
    cell: ({ counterparty }) => (counterparty === null ? '' : VEILED.account(counterparty)),
  },
  {
    heading: 'Text',
    // The text of a payout is the merchant's, also where it is undone.
    cell: ({ type, ref_no, description }) =>
      type === 'payout' || (type === 'adjustment' && ref_no !== null)
        ? VEILED.foreign(description ?? '')
        : VEILED.text(description ?? ''),
  },
];
