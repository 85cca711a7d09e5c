import type { BenchNode, ScratchDatabase } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import { type BackfillRun, requireSameWork, runChainstead } from '../backfill-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { withNode } from '../with-node.ts';

const NFT_SHARE = 0.2;
/** As everywhere: 50 transactions of two logs. */
const LOGS_PER_BLOCK = 100;

/** What a run wrote. */
interface Written {
  readonly nftTransfers: number;
  readonly trades: number;
  readonly malformed: number;
}

/** Everything that the program keeps by default, of blocks with NFTs among the tokens and of blocks with ERC-20 transfers alone. */
export const nftMixed: Benchmark = {
  name: 'nft-mixed',
  title: 'Backfill of mixed ERC-20 and NFT logs against as many ERC-20 logs, all datasets',
  run: ({ server, sizes, runs, say }) =>
    withNode(sizes.nftBlocks, { nftShare: NFT_SHARE, transferShare: 1 }, (mixed) =>
      withNode(sizes.nftBlocks, { transferShare: 1 }, async (pure) => {
        const plan = { server, blocks: sizes.nftBlocks, datasets: 'all' } as const;
        let written: Written = { nftTransfers: 0, trades: 0, malformed: 0 };
        const inspect = async (scratch: ScratchDatabase): Promise<void> => {
          written = await countWritten(scratch);
        };
        const { first, second } = await alternate(
          runs,
          { name: 'mixed', run: () => runChainstead({ ...plan, node: mixed, inspect }) },
          { name: 'ERC-20 alone', run: () => runChainstead({ ...plan, node: pure }) },
          say,
        );
        requireSameWork(...first);
        requireSameWork(...second);
        if (written.nftTransfers === 0 || written.trades === 0 || written.malformed > 0)
          throw new BenchmarkError(`The chain's NFTs were not understood: ${JSON.stringify(written)}`);
        return {
          comparisons: [
            {
              name: 'backfill, all datasets',
              unit: 'logs/s',
              ours: first.map(logsPerSecond),
              peer: second.map(logsPerSecond),
              target: { atLeast: 0.6 },
            },
          ],
          measures: [],
          notes: [
            'Here the peer is Chainstead itself on a chain without NFTs.',
            `${LOGS_PER_BLOCK * sizes.nftBlocks} logs on both chains, ${percent(mixed)} of the mixed one's of NFTs: ${written.nftTransfers} moved, ${written.trades} rows of trades.`,
          ],
        };
      }),
    ),
};

function logsPerSecond({ blocksPerSecond }: BackfillRun): number {
  return blocksPerSecond * LOGS_PER_BLOCK;
}

function percent({ facts }: BenchNode): string {
  return `${((100 * facts.nftLogs) / facts.logs).toFixed(1)} %`;
}

async function countWritten({ database }: ScratchDatabase): Promise<Written> {
  const [row] = await database.query<Written>(
    `SELECT (SELECT count(*) FROM nft_transfers) AS "nftTransfers", (SELECT count(*) FROM nft_trades) AS trades,
       (SELECT count(*) FROM nft_malformed_logs) AS malformed`,
  );
  if (row === undefined) throw new BenchmarkError('Nothing could be counted');
  return row;
}
