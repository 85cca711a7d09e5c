import { erc20Transfers } from '@chainstead/erc20';
import type { ScratchDatabase } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import { requireSameWork, runChainstead } from '../backfill-run.ts';
import { CHAIN_ID } from '../bench-chain.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { busiestWallets } from '../busiest-wallets.ts';
import { withNode } from '../with-node.ts';

/** Wallets that were asked about before the backfill begins: what many users of one application are. */
const WALLETS = 1_000;

/** What follows from transfers for wallets that were asked about, beside the transfers alone. */
export const erc20Balances: Benchmark = {
  name: 'erc20-balances',
  title: 'Backfill of ERC-20 transfers with the balances of wallets that were asked about, against the transfers alone',
  run: ({ server, sizes, runs, say }) =>
    withNode(sizes.blocks, {}, async (node) => {
      const wallets = await busiestWallets(node, WALLETS);
      let balances = 0;
      const plan = { server, node, blocks: sizes.blocks } as const;
      const { first, second } = await alternate(
        runs,
        {
          name: 'with balances',
          run: () =>
            runChainstead({
              ...plan,
              prepare: (scratch) => askAbout(scratch, wallets),
              inspect: async (scratch) => {
                balances = await countBalances(scratch);
              },
            }),
        },
        { name: 'transfers alone', run: () => runChainstead(plan) },
        say,
      );
      requireSameWork(...first, ...second);
      return {
        comparisons: [
          {
            name: 'backfill with balances',
            unit: 'transfers/s',
            ours: first.map(({ transfersPerSecond }) => transfersPerSecond),
            peer: second.map(({ transfersPerSecond }) => transfersPerSecond),
            target: { atLeast: 0.6 },
          },
        ],
        measures: [],
        notes: [
          'Here the peer is Chainstead itself, of whom nobody asked anything.',
          `The ${wallets.length} busiest wallets of the chain's first blocks were asked about: ${balances} balances.`,
        ],
      };
    }),
};

/** As the first request for each wallet does in an empty database. */
async function askAbout({ database }: ScratchDatabase, wallets: readonly string[]): Promise<void> {
  for (const { name, version } of erc20Transfers.kept ?? []) {
    await database.query(
      `INSERT INTO derived_states (chain_id, state, dataset, version, status, position) VALUES ($1, $2, $3, $4, 'built', 0)`,
      [CHAIN_ID, name, erc20Transfers.name, version],
    );
    await database.query('INSERT INTO kept_subjects (chain_id, state, subject) SELECT $1, $2, unnest($3::bytea[])', [
      CHAIN_ID,
      name,
      wallets.map((wallet) => Buffer.from(wallet.slice(2), 'hex')),
    ]);
  }
}

async function countBalances({ database }: ScratchDatabase): Promise<number> {
  const [row] = await database.query<{ balances: number }>('SELECT count(*) AS balances FROM erc20_wallet_tokens');
  if (row === undefined || row.balances < WALLETS)
    throw new BenchmarkError(`Balances were not kept: ${row?.balances ?? 0} of ${WALLETS} wallets`);
  return row.balances;
}
