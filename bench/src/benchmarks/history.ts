import { alternate, type Side } from '../alternate.ts';
import {
  type BackfillPlan,
  type BackfillRun,
  requireSameWork,
  runBareHistory,
  runChainstead,
} from '../backfill-run.ts';
import type { Benchmark, BenchmarkContext, Comparison, Target } from '../benchmark.ts';
import type { HistoryUpstream } from '../history-upstream.ts';
import { withHistory } from '../with-history.ts';

const LATENCY_MS = 50;
const SIGNERS = 2_000;
/** One Transfer in each of 13 out of 100 blocks. */
const SPARSE = { emptyShare: 0.87, transactionsPerBlock: 1, logsPerTransaction: 1, transferShare: 1 };
const SPARSE_SECONDS_MAX = 15;

/** A local Portal against a node with latency, and against a bare script over the same stream. */
export const history: Benchmark = {
  name: 'history',
  title: `Backfill from a local Portal against a node with ${LATENCY_MS} ms of latency and a bare script`,
  async run(context) {
    const { historyBlocks, sparseBlocks } = context.sizes;
    const faults = { latencyMs: LATENCY_MS };
    const dense = await withHistory(historyBlocks, { isWhole: true, signers: SIGNERS, faults }, (upstream) =>
      compareDense(context, upstream),
    );
    const sparse = await withHistory(sparseBlocks, { isWhole: false, ...SPARSE, faults }, (upstream) =>
      compareSparse(context, upstream),
    );
    const fromPortal = sparse.ours.map((blocksPerSecond) => sparseBlocks / blocksPerSecond);
    return {
      comparisons: [...dense, sparse],
      measures: [
        {
          name: `${sparseBlocks} blocks with 0.13 events each`,
          unit: 's',
          samples: fromPortal,
          target: { atMost: SPARSE_SECONDS_MAX },
        },
      ],
      notes: [
        `${historyBlocks} blocks of 50 signed transactions and 100 logs. Times include the start of the program.`,
        'The Portal sends lines made beforehand, without compression or latency.',
      ],
    };
  },
};

async function compareDense(context: BenchmarkContext, { url, portal }: HistoryUpstream): Promise<Comparison[]> {
  const plan: BackfillPlan = { server: context.server, node: { url }, blocks: context.sizes.historyBlocks };
  const proven: BackfillPlan = { ...plan, proven: true };
  return [
    await compare(context, 'filtered logs, Portal against node', { atLeast: 10 }, [
      { name: 'logs from the Portal', run: () => runChainstead({ ...plan, portal }) },
      { name: 'logs from the node', run: () => runChainstead(plan) },
    ]),
    await compare(context, 'proven blocks, Portal against node', { atLeast: 5 }, [
      { name: 'blocks from the Portal', run: () => runChainstead({ ...proven, portal }) },
      { name: 'blocks from the node', run: () => runChainstead(proven) },
    ]),
    await compare(context, 'filtered logs, against a bare script', { atLeast: 0.7 }, [
      { name: 'logs from the Portal', run: () => runChainstead({ ...plan, portal }) },
      { name: 'bare script', run: () => runBareHistory({ ...plan, portal }) },
    ]),
  ];
}

function compareSparse(context: BenchmarkContext, { url, portal }: HistoryUpstream): Promise<Comparison> {
  const plan: BackfillPlan = { server: context.server, node: { url }, blocks: context.sizes.sparseBlocks };
  return compare(context, 'sparse logs, Portal against node', undefined, [
    { name: 'sparse logs from the Portal', run: () => runChainstead({ ...plan, portal }) },
    { name: 'sparse logs from the node', run: () => runChainstead(plan) },
  ]);
}

async function compare(
  { runs, say }: BenchmarkContext,
  name: string,
  target: Target | undefined,
  [ours, peer]: readonly [Side<BackfillRun>, Side<BackfillRun>],
): Promise<Comparison> {
  const { first, second } = await alternate(runs, ours, peer, say);
  requireSameWork(...first, ...second);
  const rates = (side: readonly BackfillRun[]): number[] => side.map((run) => run.blocksPerSecond);
  return {
    name,
    unit: 'blocks/s',
    ours: rates(first),
    peer: rates(second),
    ...(target !== undefined && { target }),
  };
}
