import { darajaSettings } from '../../scripts/daraja-simulator/service-settings.ts';
import type { GatewayPaymentKind } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, accountOf } from '../../src/domain/payments/payment-store.ts';
import type { DarajaClient } from '../../src/gateways/daraja/account.ts';
import { createDarajaGateway } from '../../src/gateways/daraja/daraja-gateway.ts';
import { darajaConfigFromText } from '../../src/gateways/daraja/settings.ts';
import type { SubmitRequest } from '../../src/gateways/gateway.ts';
import { Pace } from '../../src/gateways/pace.ts';
import { deadlineIn, MINUTE_MS } from '../../src/time.ts';
import { DarajaWire } from './daraja-wire.ts';
import type { GatewayWorld } from './gateway-world.ts';
import type { HistoryGateway } from './history-gateway.ts';

const NOWHERE = 'http://127.0.0.1:9';
const CONFIG = darajaConfigFromText(darajaSettings(NOWHERE).DARAJA!);
const [SHORTCODE] = [...CONFIG.shortcodes.keys()] as [string];

/**
 * Puts Daraja's driver between the domain and the world: the facts go over the wire as Daraja
 * writes them, and the driver's own functions read them. So do its rules for sending again.
 */
export function createDarajaHistoryGateway(world: GatewayWorld): HistoryGateway {
  const wire = new DarajaWire(world);
  const { resubmit, parseCallback } = gatewayOver(() => Promise.reject(new Error('No call')));
  return {
    resubmit,
    parserOf: () => parseCallback,
    statesAmount: (kind) => kind !== 'collection',
    submit: (payment, call) => {
      const post: DarajaClient['post'] = async (path, body) =>
        wire.submit(payment, call, path, body);
      return gatewayOver(post).submit(requestFor(payment));
    },
    query: async ({ payment, askedAt }, call) => {
      const post: DarajaClient['post'] = async (path) => wire.query(payment, call, path);
      const result = await gatewayOver(post).query({
        ...{ kind: payment.kind, reference: payment.reference, externalRef: payment.external_ref },
        ...{ callbackUrl: `${NOWHERE}/answer`, timeoutUrl: `${NOWHERE}/timeout` },
      });
      const answers = result.outcome === 'asked' ? wire.answersAbout(payment, askedAt) : [];
      return { result, answers };
    },
    callbacksOf: (payment) => wire.callbacksOf(payment),
  };
}

function gatewayOver(post: DarajaClient['post']) {
  const client = { post, authenticate: async () => null };
  return createDarajaGateway({
    ...{ shortcode: SHORTCODE, config: CONFIG, client, pace: new Pace() },
    ...{ settlingWindowMs: 0, answerWindowMs: 0 },
  });
}

function requestFor(payment: AnyPayment): SubmitRequest {
  return {
    kind: payment.kind,
    reference: payment.reference,
    account: accountOf(payment),
    amountCents: payment.amount_cents,
    channel: payment.channel,
    accountNumber: payment.kind === 'collection' ? payment.account_number : null,
    narration: null,
    merchantName: 'Mama Mboga',
    callbackUrl: `${NOWHERE}/result`,
    timeoutUrl: `${NOWHERE}/timeout`,
    deadline: deadlineIn(MINUTE_MS),
    originalTransId: givesBack(payment) ? payment.original_trans_id : null,
  };
}

function givesBack(payment: AnyPayment): payment is Extract<AnyPayment, { kind: GivingBack }> {
  return payment.kind === 'reversal' || payment.kind === 'return';
}

type GivingBack = Extract<GatewayPaymentKind, 'reversal' | 'return'>;
