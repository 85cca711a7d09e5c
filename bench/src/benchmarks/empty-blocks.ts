import { alternate } from '../alternate.ts';
import { requireSameWork, runBareScript, runChainstead } from '../backfill-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { withNode } from '../with-node.ts';

const EMPTY_SHARE = 0.99;
/** What somebody would choose for a script on such a chain. */
const BARE_RANGE_BLOCKS = 2_000;

/** A chain of mostly empty blocks. */
export const emptyBlocks: Benchmark = {
  name: 'empty-blocks',
  title: 'Backfill of a chain of which 99 % of the blocks are empty, against the bare script',
  run: ({ server, sizes, runs, say }) =>
    withNode(sizes.emptyChainBlocks, { emptyShare: EMPTY_SHARE }, async (node) => {
      const plan = { server, node, blocks: sizes.emptyChainBlocks, bareRangeBlocks: BARE_RANGE_BLOCKS };
      const { first, second } = await alternate(
        runs,
        { name: 'chainstead', run: () => runChainstead(plan) },
        { name: 'bare script', run: () => runBareScript(plan) },
        say,
      );
      requireSameWork(...first, ...second);
      return {
        comparisons: [
          {
            name: 'mostly empty blocks',
            unit: 'blocks/s',
            ours: first.map((run) => run.blocksPerSecond),
            peer: second.map((run) => run.blocksPerSecond),
          },
        ],
        measures: [
          { name: 'process start to end', unit: 's', samples: first.map((run) => run.seconds) },
          { name: 'node calls', unit: 'calls', samples: first.map((run) => callsOf(run.counts)) },
        ],
        notes: [
          `${first[0]?.transfers} transfers in ${sizes.emptyChainBlocks} blocks; start-up is a good part of the time.`,
        ],
      };
    }),
};

function callsOf(counts: { readonly calls: Readonly<Record<string, number>> }): number {
  return Object.values(counts.calls).reduce((sum, count) => sum + count, 0);
}
