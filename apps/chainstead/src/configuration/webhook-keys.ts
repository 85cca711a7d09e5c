import { keysOf } from './key-facts.ts';
import { durations, wholeNumber } from './values.ts';

const { withDefault } = keysOf('Webhooks');

export const webhookKeys = {
  WEBHOOK_RETRIES: withDefault(durations, {
    description: 'Delays before the retries of a failed webhook, in order. none: no retries',
    allowed: 'none, or a comma list of whole numbers with the unit ms, s, m, h or d',
    example: '10s,1m,10m,1h',
    default: '1m,10m,1h,2h,6h,12h,24h',
  }),
  WEBHOOK_HISTORY_DAYS: withDefault(wholeNumber(1, 3_650), {
    description: 'Days for which sent webhooks, their attempts and the payloads of failed webhooks are retained',
    example: '30',
    default: '7',
  }),
  STREAMS_PER_KEY: withDefault(wholeNumber(1, 1_000_000), {
    description: 'Maximum number of streams per API key, without deleted ones',
    example: '50',
    default: '1000',
  }),
  ADDRESSES_PER_STREAM: withDefault(wholeNumber(1, 1_000_000_000), {
    description: 'Maximum number of addresses in one stream',
    example: '100000',
    default: '1000000',
  }),
  ADDRESSES_PER_KEY: withDefault(wholeNumber(1, 1_000_000_000), {
    description:
      'Maximum number of addresses in all streams of one API key. A million addresses need up to 24 MB of memory while blocks are matched',
    example: '1000000',
    default: '5000000',
  }),
  REPLAYS_PER_KEY: withDefault(wholeNumber(1, 1_000_000), {
    description: 'Maximum number of failed webhooks and single blocks queued for replay, per API key',
    example: '100',
    default: '1000',
  }),
};
