import { type Chain, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { saveChainStart } from '../checkpoint.ts';
import { recordCoverage, removeCoverage } from '../coverage/coverage.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createSyncMetrics } from '../sync-metrics.ts';
import { marks } from '../testing/marks-dataset.ts';
import { measureCoverage } from './measure-coverage.ts';

const ETH = createChainRegistry().get('eth');
const POLYGON = createChainRegistry().get('polygon');
const OPTIMISM = createChainRegistry().get('optimism');
const OTHERS = { ...marks, name: 'others' } as Dataset;
const datasets = [marks as Dataset, OTHERS];

const scratch = scratchOfFile();

const cover = (chain: Chain, names: readonly string[], from: number, to: number, proof: ProofLevel) =>
  scratch.database.transaction((transaction) =>
    recordCoverage(transaction, chain.id, names, { range: { from, to }, proof, reason: null, upstream: null }),
  );

test('the lowest retained block is reported, 0 if all are', async () => {
  const { database } = scratch;
  const metrics = createSyncMetrics(createMetricsRegistry());
  const retainedFrom = async (): Promise<number | undefined> =>
    (await metrics.keptFromBlock.get()).values[0]?.value;
  await saveChainStart(database, OPTIMISM, 0, 100_000);
  await measureCoverage({ chain: OPTIMISM, database, datasets, metrics }, null);
  expect(await retainedFrom()).toBe(0);
  await measureCoverage(
    { chain: OPTIMISM, database, datasets, metrics, retention: { blocks: 50_000, since: null } },
    null,
  );
  expect(await retainedFrom()).toBe(50_000);
});

test('covered blocks are counted by chain, dataset and level, and a report changes those of its own chain alone', async () => {
  const { database } = scratch;
  const metrics = createSyncMetrics(createMetricsRegistry());
  const measure = (chain: Chain) => measureCoverage({ chain, database, datasets, metrics }, null);
  const covered = async (): Promise<string[]> => {
    const { values } = await metrics.coveredBlocks.get();
    return values.map(({ labels, value }) => `${labels.chain} ${labels.dataset} ${labels.proof} ${value}`).sort();
  };
  await cover(ETH, ['marks', 'others'], 1, 100, 'none');
  await cover(ETH, ['marks'], 201, 250, 'none');
  await cover(POLYGON, ['marks'], 1, 30, 'receipts');
  expect((await measure(ETH)).missing).toEqual([0, 0]);
  await measure(POLYGON);
  const ofPolygon = 'polygon marks receipts 30';
  expect(await covered()).toEqual(['eth marks none 150', 'eth others none 100', ofPolygon]);

  await cover(ETH, ['marks'], 1, 100, 'receipts');
  await cover(ETH, ['marks'], 201, 250, 'receipts');
  await database.transaction((transaction) =>
    removeCoverage(transaction, ETH.id, ['others'], { from: 1, to: 100 }),
  );
  await measure(ETH);
  expect(await covered()).toEqual(['eth marks receipts 150', ofPolygon]);
});
