import { NO_BLOCK_BOUNDS, textParameter } from '@chainstead/http';
import type { z } from '@hono/zod-openapi';
import type { logsFilterSchema } from './read-logs-page.ts';

/** What a first page takes for what the request leaves out. */
export const NO_LOGS_FILTER: z.infer<typeof logsFilterSchema> = {
  address: '',
  chain: 'eth',
  topic0: null,
  topic1: null,
  topic2: null,
  topic3: null,
  offset: 0,
  ...NO_BLOCK_BOUNDS,
};

const TOPIC = 'a topic (0x and 64 hexadecimal digits)';

/** A topic of a log, any letter case in, lower case out. */
export function topicParameter(description: string) {
  return textParameter(TOPIC, (given) => (/^0x[0-9a-f]{64}$/i.test(given) ? given.toLowerCase() : undefined))
    .optional()
    .openapi({ type: 'string', pattern: '^0x[0-9a-fA-F]{64}$', description });
}
