import { Counter, type Registry } from '@chainstead/core';

/** Readings of collections and tokens by outcome. */
export function createMetadataMetrics(registry: Registry): Counter<'chain' | 'kind' | 'outcome'> {
  return new Counter({
    name: 'chainstead_nft_metadata_readings_total',
    help: 'Collections and tokens read, by outcome: known, document-failed, none (names no document), not-nft, not-contract, failed (no upstream answered)',
    labelNames: ['chain', 'kind', 'outcome'],
    registers: [registry],
  });
}
