import { expect } from 'chai';
import { type BadCase, expectWrong, readArguments } from '../../support/admin-usage.ts';

const NOBODY = '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e';
const FILE = 'reconcile --channel 1 --from 2026-03-01 --to 2026-03-01 --file x.csv';
const topup = (rest: string) => `wallet topup --merchant 1001 ${rest}`;
const adjust = (rest: string) => `wallet adjust --merchant 1001 ${rest}`;

describe('Options of the command line for money and support', () => {
  it('wallet: takes no bad amounts, wallets or references', () => {
    expectWrong([
      ...['0.00', '0', '-1.00', '1.0', '1.000', '1,000.00', '1e2', '1000000000.00', ''].map(
        (amount): BadCase => [
          topup(`--amount=${amount} --reference R-2`),
          '--amount must be an amount from 0.01 to 999999999.99, such as 100.00 or 100',
        ],
      ),
      ...['0.00', '-0.00', '-0', '--1.00', '+1.00', '1.5', '-1000000000.00'].map(
        (amount): BadCase => [
          adjust(`--wallet payout --amount=${amount} --reference R-2`),
          '--amount must be an amount that is not zero',
        ],
      ),
      [topup('--wallet collection --amount 1.00 --reference R-2'), '--wallet must be payout'],
      [adjust('--amount 1.00 --reference R-2'), '--wallet is required'],
      [
        adjust('--wallet savings --amount 1.00 --reference R-2'),
        '--wallet must be one of collection, payout',
      ],
      [topup('--amount 1.00'), '--reference is required'],
      ...['a:b', '/', 'x'.repeat(51), '', 'ü'].map(
        (reference): BadCase => [
          topup(`--amount 1.00 --reference=${reference}`),
          '--reference must be 1 to 50 letters, digits, dashes, underscores, full stops',
        ],
      ),
    ]);
  });

  it('channel: takes no channel that does not exist', () => {
    expectWrong([
      ['channel pause --channel 63999', "--channel must be a channel's code such as 63902"],
      ['channel resume --channel M-PESA', "--channel must be a channel's code"],
      ['channel pause', '--channel is required'],
      ['channel list --channel 63902', 'Unknown option "--channel"'],
    ]);
  });

  it('payment: takes no bad options', () => {
    expectWrong([
      ['payment show', '--what is required'],
      ['payment show a b', 'payment show takes one WHAT and options, not "b"'],
      ['payment list --kind refund', '--kind must be one of collection, payout, reversal, return'],
      ['payment list --after x', '--after must be an id such as'],
      ['payment list --phone 0202345678', '--phone must be a Kenyan mobile number such as 0712'],
      ['payment list --phone order-1', '--phone must be a Kenyan mobile number'],
      ['payment list --state open', '--state must be a list out of pending, processing, failed'],
      ['payment list --channel mpesas', "--channel must be a channel's code or name such as 63902"],
      ['payment list --channel -', "--channel must be a channel's code or name"],
      ['payment list --amount 1,500', '--amount must be an amount from 0.01'],
      ['payment list --phone-ends 78', '--phone-ends must be the last 3 to 9 digits'],
      ['payment list --min 1.5', '--min must be an amount from 0.01'],
      ['payment list --since 2026-02-30', '--since must be a moment such as'],
      ['payment list --since yesterday', '--since must be a moment such as'],
      [
        'payment list --since 2026-11-21 --until 2026-11-20',
        'The start of the period (since) must be before its end (until)',
      ],
      ['payment list --phone 0712345678 --min 5 --max 4', 'must not be more than the most'],
      ['payment list --phone 0712345678 --min 5 --amount 5', 'An amount is exact'],
    ]);
  });

  it('payment list: looks for what no index has in a short period only', () => {
    for (const filter of [
      '--phone-ends 678',
      '--app 5001',
      '--channel 63902',
      '--amount 5',
      '--min 5',
      '--max 5',
    ]) {
      const needs = `The filter ${filter.slice(2).split(' ')[0]} needs a phone`;
      expectWrong([
        [`payment list ${filter}`, `${needs}, or a period (since, until) of at most 31 days`],
        [`payment list ${filter} --merchant 1001 --state failed`, needs],
        [`payment list ${filter} --since 2020-01-01`, needs],
        [`payment list ${filter} --until 2020-01-31`, needs],
        [`payment list ${filter} --since 2020-01-01 --until 2020-02-01`, needs],
      ]);
      for (const way of [
        '--since 2020-01-01 --until 2020-01-31',
        '--phone 0712345678',
        '--parked',
        '--overdue',
      ]) {
        const line = `payment list ${filter} ${way}`;
        expect(() => readArguments(line.split(' ')), line).not.to.throw();
      }
    }
  });

  it('discrepancy: takes no bad options', () => {
    const resolve = `discrepancy resolve ${NOBODY}`;
    expectWrong([
      ['discrepancy resolve --as failed', '--discrepancy is required'],
      ['discrepancy resolve x --as failed', '--discrepancy must be an id such as'],
      [resolve, '--as is required'],
      [`${resolve} --as superseded`, '--as must be one of completed, failed, returned'],
      [
        `${resolve} --as failed --trans-id R1`,
        'A receipt (trans-id) is that of a payment that has completed',
      ],
      ['discrepancy list --kind strange', '--kind must be one of other_amount'],
    ]);
  });

  it('webhooks: takes no bad options', () => {
    expectWrong([
      ['webhooks list --status delivered', '--status delivered needs --payment'],
      ['webhooks list --status sent', '--status must be one of exhausted, stopped, pending, deliv'],
      ['webhooks list --merchant x', "--merchant must be a merchant's number such as 1001"],
      ['webhooks list --after x', '--after must be an id such as'],
      ['webhooks show', '--webhook is required'],
      ['webhooks show order-1', '--webhook must be an id such as'],
      ['webhooks resend', '--webhook is required'],
      [`webhooks resend ${NOBODY} --status pending`, 'Unknown option "--status"'],
      [
        'webhooks list --since 2026-11-21 --until 2026-11-20',
        'The start of the period (since) must be before its end (until)',
      ],
      ['webhooks endpoints --state open', '--state must be one of held, failing, working'],
      ['webhooks endpoints --after 1001', '--after must be an endpoint as the list names it'],
      ['webhooks endpoints --after open/1/x', '--after must be an endpoint as the list names it'],
    ]);
    const recover = 'webhooks recover --merchant 1001 --since 2026-11-20';
    expectWrong([
      ['webhooks recover --merchant 1001', '--since is required'],
      ['webhooks recover --since 2026-11-20', '--merchant is required'],
      [
        `${recover} --until 2026-11-19`,
        'The start of the period (since) must be before its end (until)',
      ],
      ...['shop.example', 'ftp://shop.example', 'https://shop.example/hook', 'https://a@b'].map(
        (endpoint): BadCase => [
          `${recover} --endpoint ${endpoint}`,
          '--endpoint must be scheme, host and port such as https://shop.example',
        ],
      ),
      ...['0', '101', 'many'].map(
        (rate): BadCase => [
          `${recover} --rate ${rate}`,
          '--rate must be a whole number from 1 to 100',
        ],
      ),
    ]);
  });

  it('audit: takes no bad options', () => {
    expectWrong([
      ['audit', 'audit needs a verb: list'],
      ['audit list --noun App.suspend', '--noun must be a noun of the command line such as app'],
      [
        'audit list --since 2026-11-21 --until 2026-11-20',
        'The start of the period (since) must be before its end (until)',
      ],
      ['audit list --merchant x', "--merchant must be a merchant's number"],
      ['audit list --after x', '--after must be an id such as'],
      ['audit list --csv=x', '--csv takes no value'],
    ]);
  });

  it('security: takes no bad options', () => {
    expectWrong([
      ['security list --kind robbery', '--kind must be one of log_in, log_in_failed'],
      ['security list --ip 10.1', '--ip must be an IPv4 or IPv6 address'],
      ['security list --account=', '--account must be 1 to 254 visible characters on one line'],
      [
        'security list --since 2026-11-21 --until 2026-11-20',
        'The start of the period (since) must be before its end (until)',
      ],
      ['security list --jsonl=x', '--jsonl takes no value'],
    ]);
  });

  it('jobs: wants to know which, in one way', () => {
    expectWrong([
      ['jobs replay', 'Say which: IDS, filters such as --queue, or --all'],
      ['jobs replay --dry-run --rate 5', 'Say which'],
      ['jobs replay 1 --all', 'Say in one way which'],
      ['jobs replay --all --queue x', 'Say in one way which'],
      ['jobs replay 1 --merchant 1001', 'Say in one way which'],
      ['jobs replay 1,x', '--ids must be a whole number from 1 to'],
      ['jobs replay 1, ', '--ids must be a whole number from 1 to'],
      ['jobs replay --all --rate 0', '--rate must be a whole number from 1 to 100'],
      ['jobs replay --all --stop-after 0', '--stop-after must be a whole number from 1 to 1000'],
      ['jobs replay --all --limit 10001', '--limit must be a whole number from 1 to 10000'],
      [
        'jobs list --state open',
        '--state must be one of waiting, replayed, failed_again, moved_on',
      ],
      ['jobs list --older-than soon', '--older-than must be a time such as 90s'],
    ]);
  });

  it('reconcile: says what its options must be', () => {
    expectWrong([
      ['reconcile', '--channel, --from, --to, --reason are required'],
      [
        'reconcile --channel 1 --from 2026-02-30 --to 2026-03-01 --reason x',
        '--from must be a day',
      ],
      [
        'reconcile --channel 1 --from 2026-03-02 --to 2026-03-01 --reason x',
        'The last day (to) is before the first (from)',
      ],
      [
        [
          'reconcile',
          '--channel',
          '1',
          '--from',
          '2026-03-01',
          '--to',
          '2026-03-01',
          '--columns',
          'ref=x',
        ],
        '--columns must be a list of NAME=COLUMN',
      ],
      [
        'reconcile --channel 1 --from 2026-03-01 --to 2026-03-01 --utc-offset 3',
        '--utc-offset must be an offset such as +03:00',
      ],
      [`${FILE} --covers payouts`, '--covers must be a list out of collection, payout, reversal'],
      [
        `${FILE} --utc-offset +03:00 --kind payout --covers payout`,
        'A file of one kind covers this kind',
      ],
      [`${FILE} --complete-until noon`, '--complete-until must be a moment'],
      [`${FILE} --complete-until 2026-02-31T10:00:00Z`, '--complete-until must be a moment'],
      [
        'reconcile --channel 1 --from 2026-03-01 --to 2026-03-01 --complete-until 2026-03-01',
        'Only a file covers kinds (covers)',
      ],
    ]);
  });

  it('restore: takes nothing that it has no use for', () => {
    expectWrong([
      ['restore', 'restore needs a verb: mark, status'],
      ['restore mark --channel 63902', 'Unknown option "--channel"'],
    ]);
  });
});
