import { Counter, type Registry } from '@chainstead/core';

export function createMetadataMetrics(registry: Registry): Counter<'chain' | 'kind' | 'outcome'> {
  return new Counter({
    name: 'chainstead_nft_metadata_readings_total',
    help: 'Number of NFT metadata reads by kind and outcome: known, document-failed, none (no metadata URI), not-nft, not-contract, failed (no upstream responded)',
    labelNames: ['chain', 'kind', 'outcome'],
    registers: [registry],
  });
}
