/** Keys of the delivery of webhooks. */
import { withDefault } from './key-facts.ts';
import { durations, wholeNumber } from './values.ts';

export const webhookKeys = {
  WEBHOOK_RETRIES: withDefault(wholeNumber(0, 100), {
    group: 'Webhooks',
    description: 'Attempts after the first for a webhook that fails',
    allowed: 'a whole number from 0 to 100',
    example: '10',
    default: '7',
  }),
  WEBHOOK_RETRY_SCHEDULE: withDefault(durations, {
    group: 'Webhooks',
    description:
      'Waits after the first failed attempt of a webhook, the second and so on; the last one for all further ones',
    allowed: 'a comma list of whole numbers with ms, s, m, h or d',
    example: '10s,1m,10m,1h',
    default: '1m,10m,1h,2h,6h,12h,24h',
  }),
  WEBHOOK_HISTORY_DAYS: withDefault(wholeNumber(1, 3_650), {
    group: 'Webhooks',
    description: 'Days that sent webhooks, their attempts and the payloads of failed ones are kept',
    allowed: 'a whole number from 1 to 3650',
    example: '30',
    default: '7',
  }),
  TRIGGER_CALLS_PER_BLOCK: withDefault(wholeNumber(1, 100_000), {
    group: 'Webhooks',
    description:
      'Calls of triggers for the webhook of one block, and native balances in it; further ones show as an error',
    allowed: 'a whole number from 1 to 100000',
    example: '200',
    default: '1000',
  }),
  HISTORICAL_JOBS_PER_KEY: withDefault(wholeNumber(1, 10_000), {
    group: 'Webhooks',
    description: 'Replays of streams over past blocks that one API key may have under way at once',
    allowed: 'a whole number from 1 to 10000',
    example: '5',
    default: '20',
  }),
  HISTORICAL_JOB_BLOCKS: withDefault(wholeNumber(1, 1_000_000_000), {
    group: 'Webhooks',
    description: 'Blocks of one replay at most',
    allowed: 'a whole number from 1 to 1000000000',
    example: '100000',
    default: '1000000',
  }),
  STREAMS_PER_KEY: withDefault(wholeNumber(1, 1_000_000), {
    group: 'Webhooks',
    description: 'Streams that one API key may have made and not deleted',
    allowed: 'a whole number from 1 to 1000000',
    example: '50',
    default: '1000',
  }),
  ADDRESSES_PER_STREAM: withDefault(wholeNumber(1, 1_000_000_000), {
    group: 'Webhooks',
    description: 'Addresses that one stream may watch',
    allowed: 'a whole number from 1 to 1000000000',
    example: '100000',
    default: '1000000',
  }),
  ADDRESSES_PER_KEY: withDefault(wholeNumber(1, 1_000_000_000), {
    group: 'Webhooks',
    description:
      'Addresses that the streams of one API key may watch together; while blocks are matched a million take up to 24 MB of memory',
    allowed: 'a whole number from 1 to 1000000000',
    example: '1000000',
    default: '5000000',
  }),
  REPLAYS_PER_KEY: withDefault(wholeNumber(1, 1_000_000), {
    group: 'Webhooks',
    description: 'Failed webhooks and single blocks that one API key may have waiting to be sent again',
    allowed: 'a whole number from 1 to 1000000',
    example: '100',
    default: '1000',
  }),
  WEBHOOK_CONCURRENCY: withDefault(wholeNumber(1, 10_000), {
    group: 'Webhooks',
    description: 'Webhooks that a process sends at once',
    allowed: 'a whole number from 1 to 10000',
    example: '500',
    default: '200',
  }),
  WEBHOOK_CONCURRENCY_PER_HOST: withDefault(wholeNumber(1, 1_000), {
    group: 'Webhooks',
    description: 'Webhooks that one receiving host gets at once; a slow one then occupies no more',
    allowed: 'a whole number from 1 to 1000',
    example: '4',
    default: '16',
  }),
};
