import { Counter, type Registry } from '@chainstead/core';

export function createMatchMetrics(registry: Registry): Counter<'chain'> {
  return new Counter({
    name: 'chainstead_stream_matches_total',
    help: 'Number of block matches, counted once per block and stream',
    labelNames: ['chain'],
    registers: [registry],
  });
}
