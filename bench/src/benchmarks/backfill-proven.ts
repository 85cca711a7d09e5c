import { alternate } from '../alternate.ts';
import {
  type BackfillPlan,
  rangeArguments,
  requireSameWork,
  runBareScript,
  runChainstead,
} from '../backfill-run.ts';
import { urlsOf } from '../bench-chain.ts';
import type { Benchmark } from '../benchmark.ts';
import { ERC20_ONLY, startChainstead } from '../chainstead-program.ts';
import { withNode } from '../with-node.ts';

/** `BACKFILL_PROOF=receipts` against a bare script that reads whole receipts, and the prover's rate. */
export const backfillProven: Benchmark = {
  name: 'backfill-proven',
  title: 'Backfill proven by receipts against a bare getBlockReceipts-and-COPY script',
  run: ({ server, sizes, runs, say }) =>
    withNode(sizes.provenBlocks, {}, async (node) => {
      const plan = { server, node, blocks: sizes.provenBlocks, proven: true };
      const { first, second } = await alternate(
        runs,
        { name: 'chainstead', run: () => runChainstead(plan) },
        { name: 'bare script', run: () => runBareScript(plan) },
        say,
      );
      requireSameWork(...first, ...second);
      const prover: number[] = [];
      for (let run = 0; run < runs; run++) {
        say(`  run ${run + 1} of ${runs}: prover`);
        prover.push(await measureProver({ ...plan, proven: false }));
      }
      return {
        comparisons: [
          {
            name: 'backfill, proven',
            unit: 'blocks/s',
            ours: first.map((run) => run.blocksPerSecond),
            peer: second.map((run) => run.blocksPerSecond),
            target: { atLeast: 0.6 },
          },
        ],
        measures: [{ name: 'prover (`chainstead verify`)', unit: 'blocks/s', samples: prover }],
        notes: [`${first[0]?.transfers} transfers in ${sizes.provenBlocks} blocks of 50 receipts.`],
      };
    }),
};

/** @returns blocks a second that `chainstead verify` proves of a range that was indexed fast */
async function measureProver(plan: BackfillPlan): Promise<number> {
  let seconds = Number.NaN;
  await runChainstead({
    ...plan,
    async inspect(scratch) {
      const verify = startChainstead(['verify', ...rangeArguments(plan.blocks)], {
        databaseUrl: scratch.url,
        rpcUrls: urlsOf(plan.node, 1),
        env: ERC20_ONLY,
      });
      await verify.finished();
      seconds = verify.elapsedMs() / 1_000;
    },
  });
  return plan.blocks / seconds;
}
