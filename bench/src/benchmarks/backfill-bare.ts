import { alternate } from '../alternate.ts';
import { requireSameWork, runBareScript, runChainstead } from '../backfill-run.ts';
import { startNode } from '../bench-chain.ts';
import type { Benchmark } from '../benchmark.ts';

/** Fast backfill against a bare script that reads filtered logs and copies them unchecked. */
export const backfillBare: Benchmark = {
  name: 'backfill-bare',
  title: 'Backfill (filtered logs) against a bare getLogs-and-COPY script',
  async run({ server, sizes, runs, say }) {
    const node = await startNode(sizes.blocks);
    try {
      const plan = { server, node, blocks: sizes.blocks };
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
            name: 'backfill, fast',
            unit: 'transfers/s',
            ours: first.map((run) => run.transfersPerSecond),
            peer: second.map((run) => run.transfersPerSecond),
            target: { atLeast: 0.6 },
          },
        ],
        measures: [],
        notes: [`${first[0]?.transfers} ERC-20 transfers in ${sizes.blocks} blocks.`],
      };
    } finally {
      await node.stop();
    }
  },
};
