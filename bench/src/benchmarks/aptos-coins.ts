import { alternate } from '../alternate.ts';
import { runAptosBackfill, runBareAptos, withAptosFullnode } from '../aptos-run.ts';
import type { Benchmark } from '../benchmark.ts';

/** Coins out of a local fullnode against fetching and parsing the same bytes. */
export const aptosCoins: Benchmark = {
  name: 'aptos-coins',
  title: 'Coins of Aptos against fetching and JSON.parse of the same pages',
  run: ({ server, sizes, runs, say }) =>
    withAptosFullnode(sizes.aptosVersions, async (url) => {
      const plan = { server, url, versions: sizes.aptosVersions };
      const { first, second } = await alternate(
        runs,
        { name: 'chainstead', run: () => runAptosBackfill(plan, 'coins', 'aptos_coins') },
        { name: 'fetch and JSON.parse', run: () => runBareAptos(plan) },
        say,
      );
      return {
        comparisons: [
          {
            name: 'Aptos, coins',
            unit: 'transactions/s',
            ours: first.map((run) => run.transactionsPerSecond),
            peer: second.map((run) => run.transactionsPerSecond),
            target: { atLeast: 0.7 },
          },
        ],
        measures: [],
        notes: [
          `${sizes.aptosVersions} versions of the recorded transactions in turn, of which one in 28 holds a CoinInfo: many more than on mainnet. ${first[0]?.rows} coins.`,
        ],
      };
    }),
};
