import { createChainRegistry } from '@chainstead/chains';
import type { SampledBlock } from '@chainstead/rpc/pool';
import { describe, expect, it } from 'vitest';
import { datasets as known } from '../datasets/registry.ts';
import { type DatasetCostFacts, datasetCosts } from './dataset-costs.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';

const chain = createChainRegistry({
  additional: [
    {
      key: 'base-sepolia',
      id: 84_532,
      blockTimeMs: 2_000,
      swaps: 'all',
      transactions: { mode: 'wallets', input: 'full', verifiesSenders: true },
    },
  ],
}).get('base-sepolia');
const log = (topic: string, bytes: number) => ({ address: `0x${'ab'.repeat(20)}`, topic, bytes });
const sample: readonly SampledBlock[] = [
  { bytes: 30_000, logs: [log(TRANSFER, 400), log(TRANSFER, 600), log(SYNC, 500)] },
  { bytes: 50_000, logs: [] },
];

function costs(changed: Partial<DatasetCostFacts> = {}): Readonly<Record<string, string>> {
  const configured = new Set(known.map(({ name }) => name));
  const findings = datasetCosts({ chain, known, configured, sample, ...changed });
  return Object.fromEntries(findings.map(({ subject, found }) => [subject, found]));
}

describe('the cost of datasets', () => {
  it('is the mean size of sampled blocks, or of the logs that the dataset decodes, with its setting', () => {
    expect(costs()).toMatchObject({
      swaps:
        'on: whole blocks and receipts, 2 calls per block, 40 kB per block, 1.7 GB per day. SWAPS_BASE_SEPOLIA=off turns it off',
      'erc20-transfers':
        'on: filtered logs, 1.0 and 500 B per block, 22 MB per day. Leave it out of DATASETS to turn it off',
      'pool-states':
        'on: filtered logs, 0.5 and 250 B per block, 11 MB per day. Leave it out of DATASETS to turn it off',
      logs: 'on request; for every block: whole blocks and receipts, 2 calls per block, 40 kB per block, 1.7 GB per day. LOGS_BASE_SEPOLIA=all turns it on',
    });
  });

  it('names DATASETS for a dataset that is not in it', () => {
    const some = costs({ configured: new Set(['erc20-transfers']) });
    expect(some['erc20-transfers']).toMatch(/^on: /);
    expect(some.swaps).toMatch(/^off: .*\. Add it to DATASETS to turn it on$/);
  });

  it('has no figures without a sampled block', () => {
    expect(costs({ sample: [] })).toMatchObject({
      swaps: 'on: whole blocks and receipts, 2 calls per block. SWAPS_BASE_SEPOLIA=off turns it off',
      'erc20-transfers': 'on: filtered logs. Leave it out of DATASETS to turn it off',
    });
  });

  it('has a line for each dataset that the chain can have, and none for others', () => {
    const names = Object.keys(costs());
    expect(names).toEqual(
      expect.arrayContaining(['swaps', 'logs', 'internal-transfers', 'account-transactions']),
    );
    expect(names).not.toContain('punk-bids');
  });
});
