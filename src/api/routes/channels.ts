import { Router } from 'express';
import { CHANNELS, type Channel } from '../../domain/channels/channel.ts';
import { pausedChannels } from '../../domain/channels/channel-store.ts';
import { formatAmount, MAX_AMOUNT_CENTS, MIN_AMOUNT_CENTS } from '../../domain/money.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints.ts';
import { mount } from '../middleware/mount.ts';
import { envelopeOf, pageRequestOf } from '../pagination.ts';

export function channelRoutes(context: ApiContext): Router {
  const { database, config, channels } = context;
  const router = Router();

  mount(router, context, endpoints.listChannels, async ({ query }) => {
    const paused = await pausedChannels(database);
    const present = ({ code, name, type }: Channel) => {
      const route = channels.get(code);
      return {
        code,
        name,
        type,
        active: route !== undefined && !paused.has(code),
        min_amount: formatAmount(MIN_AMOUNT_CENTS),
        max_amount: formatAmount(MAX_AMOUNT_CENTS),
        whole_shillings: (route?.amountStepCents ?? 1) % 100 === 0,
      };
    };
    const { page, pageSize } = pageRequestOf(query);
    const start = (page - 1) * pageSize;
    const rows = CHANNELS.slice(start, start + pageSize);
    const next = start + pageSize < CHANNELS.length ? ('plain' as const) : null;
    const found = { count: CHANNELS.length, rows, next };
    const { path } = endpoints.listChannels;
    return { body: envelopeOf(config.publicUrl, path, query, found, present) };
  });

  return router;
}
