import { type AptosRun, runAptosBackfill, withAptosFullnode } from '../aptos-run.ts';
import type { Benchmark } from '../benchmark.ts';

const DATASETS = [
  { dataset: 'transfers', table: 'aptos_transfers' },
  { dataset: 'holders', table: 'aptos_balance_history' },
] as const;

/** Transfers and holders, each by itself. */
export const aptosAll: Benchmark = {
  name: 'aptos-all',
  title: 'Transfers and holders of Aptos out of a local fullnode',
  run: ({ server, sizes, runs, say }) =>
    withAptosFullnode(sizes.aptosRowVersions, async (url) => {
      const plan = { server, url, versions: sizes.aptosRowVersions };
      const measured: { dataset: string; runs: AptosRun[] }[] = DATASETS.map(({ dataset }) => ({ dataset, runs: [] }));
      for (let run = 0; run < runs; run++)
        for (const [index, { dataset, table }] of DATASETS.entries()) {
          say(`  run ${run + 1} of ${runs}: ${dataset}`);
          measured[index]?.runs.push(await runAptosBackfill(plan, dataset, table));
        }
      return {
        comparisons: [],
        measures: measured.map(({ dataset, runs: samples }) => ({
          name: `Aptos, ${dataset}`,
          unit: 'transactions/s',
          samples: samples.map((run) => run.transactionsPerSecond),
        })),
        notes: measured.map(
          ({ dataset, runs: samples }) => `${dataset}: ${samples[0]?.rows} rows of ${sizes.aptosRowVersions} versions.`,
        ),
      };
    }),
};
