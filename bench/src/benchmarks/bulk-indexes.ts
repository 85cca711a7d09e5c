import { alternate } from '../alternate.ts';
import { requireSameWork, runChainstead } from '../backfill-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { withNode } from '../with-node.ts';

/** A declared bulk load (indexes left out, built concurrently at its end) against a load with all indexes in place. */
export const bulkIndexes: Benchmark = {
  name: 'bulk-indexes',
  title: '`backfill --bulk`, building its indexes included, against `backfill`',
  run: ({ server, sizes, runs, say }) =>
    withNode(sizes.blocks, {}, async (node) => {
      const plan = { server, node, blocks: sizes.blocks };
      const { first, second } = await alternate(
        runs,
        { name: 'indexes built afterwards', run: () => runChainstead({ ...plan, bulk: true }) },
        { name: 'indexes in place', run: () => runChainstead(plan) },
        say,
      );
      requireSameWork(...first, ...second);
      return {
        comparisons: [
          {
            name: 'bulk load, complete',
            unit: 'transfers/s',
            ours: first.map((run) => run.transfersPerSecond),
            peer: second.map((run) => run.transfersPerSecond),
          },
        ],
        measures: [],
        notes: ['Here the peer is Chainstead itself without --bulk.'],
      };
    }),
};
