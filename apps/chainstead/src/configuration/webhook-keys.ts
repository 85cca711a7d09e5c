import { keysOf } from './key-facts.ts';
import { durations } from './values.ts';

const { withDefault } = keysOf('Webhooks');

export const webhookKeys = {
  WEBHOOK_RETRIES: withDefault(durations, {
    description: 'Delays before the retries of a failed webhook, in order. none: no retries',
    allowed: 'none, or a comma list of whole numbers with the unit ms, s, m, h or d',
    example: '10s,1m,10m,1h',
    default: '1m,10m,1h,2h,6h,12h,24h',
  }),
};
