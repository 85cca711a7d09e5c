import { Counter, type Registry } from '@chainstead/core';

/** What was matched, by chain. */
export function createMatchMetrics(registry: Registry): Counter<'chain'> {
  return new Counter({
    name: 'chainstead_stream_matches_total',
    help: 'Blocks that matched a stream, once for each of the streams',
    labelNames: ['chain'],
    registers: [registry],
  });
}
