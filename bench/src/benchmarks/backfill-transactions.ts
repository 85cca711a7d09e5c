import { fileURLToPath } from 'node:url';
import type { BenchNode, ScratchDatabase } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import { rangeArguments } from '../backfill-run.ts';
import type { BareTransactionsPlan } from '../bare/bare-transactions.ts';
import { CHAIN_ID } from '../bench-chain.ts';
import type { Benchmark, BenchmarkContext, Comparison, Measure } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { type MeasuredProcess, startProcess } from '../measured-process.ts';
import { withNode } from '../with-node.ts';

const DATASETS = 'transactions,account-transactions';
const LATENCIES_MS = [0, 50] as const;
const SIGNERS = 2_000;
/** Of Ethereum's busier blocks. */
const TRANSACTIONS_PER_BLOCK = 150;
/** A signed chain takes long to make, and its blocks are three times as large as those of the other benchmarks. */
const SHARE_OF_BLOCKS = 0.1;

/** All transactions of a chain's history, proven with their senders, against a bare script that reads the same blocks and receipts and copies rows. */
export const backfillTransactions: Benchmark = {
  name: 'backfill-transactions',
  title: `Backfill of transactions against a bare script that reads and copies the same blocks and receipts`,
  run: (context) => {
    const blocks = Math.ceil(context.sizes.provenBlocks * SHARE_OF_BLOCKS);
    const chain = { signers: SIGNERS, transactionsPerBlock: TRANSACTIONS_PER_BLOCK };
    return withNode(blocks, chain, async (node) => {
      const comparisons: Comparison[] = [];
      const sizes: TableSizes[] = [];
      for (const latencyMs of LATENCIES_MS) {
        await node.setFaults({ latencyMs });
        comparisons.push(...(await compare(context, node, blocks, latencyMs, sizes)));
      }
      return {
        comparisons,
        measures: measuresOf(sizes),
        notes: [
          `${blocks} blocks of ${TRANSACTIONS_PER_BLOCK} signed transactions with two logs and 68 bytes of calldata each; what is kept: ${DATASETS}.`,
          'The script proves nothing, and believes the senders. PROVE_SENDERS=off believes them too, and proves the rest.',
        ],
      };
    });
  },
};

async function compare(
  { server, runs, say }: BenchmarkContext,
  node: BenchNode,
  blocks: number,
  latencyMs: number,
  sizes: TableSizes[],
): Promise<Comparison[]> {
  const timed =
    (start: (databaseUrl: string) => MeasuredProcess, isOurs = false) =>
    async () => {
      const scratch = await server.createDatabase();
      try {
        const process = start(scratch.url);
        await process.finished();
        const seconds = process.elapsedMs() / 1_000;
        await requireAll(scratch, blocks);
        if (isOurs) sizes.push(await tableSizes(scratch));
        return (blocks * TRANSACTIONS_PER_BLOCK) / seconds;
      } finally {
        await scratch.drop();
      }
    };
  const program = (senders: 'on' | 'off') =>
    timed(
      (databaseUrl) =>
        startChainstead(['backfill', ...rangeArguments(blocks)], {
          databaseUrl,
          rpcUrls: [node.url],
          env: { DATASETS, TRANSACTIONS_ETH: 'all', PROVE_SENDERS: senders },
        }),
      true,
    );
  const script = timed((databaseUrl) => {
    const plan: BareTransactionsPlan = { databaseUrl, rpcUrl: node.url, chainId: CHAIN_ID, from: 1, to: blocks };
    const file = fileURLToPath(new URL('../bare/bare-transactions.ts', import.meta.url));
    return startProcess({ args: [file, JSON.stringify(plan)], env: {} });
  });
  const comparisons: Comparison[] = [];
  for (const senders of ['on', 'off'] as const) {
    const { first, second } = await alternate(
      runs,
      { name: `chainstead, ${latencyMs} ms, PROVE_SENDERS=${senders}`, run: program(senders) },
      { name: `bare script, ${latencyMs} ms`, run: script },
      say,
    );
    comparisons.push({
      name: `${latencyMs} ms, PROVE_SENDERS=${senders}`,
      unit: 'transactions/s',
      ours: first,
      peer: second,
      target: { atLeast: 0.6 },
    });
  }
  return comparisons;
}

/** Bytes a transaction, with indexes. */
interface TableSizes {
  readonly transactions: number;
  readonly accounts: number;
}

async function tableSizes({ database }: ScratchDatabase): Promise<TableSizes> {
  const sizeOf = (table: string) =>
    `(SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('${table}'))::float8 / (SELECT count(*) FROM transactions)`;
  const [row] = await database.query<{ transactions: number; accounts: number }>(
    `SELECT ${sizeOf('transactions')} AS transactions, ${sizeOf('account_transactions')} AS accounts`,
  );
  return { transactions: row?.transactions ?? 0, accounts: row?.accounts ?? 0 };
}

function measuresOf(sizes: readonly TableSizes[]): Measure[] {
  return [
    {
      name: 'transactions, with its indexes',
      unit: 'bytes a transaction',
      samples: sizes.map((one) => one.transactions),
    },
    {
      name: 'account_transactions, with its indexes',
      unit: 'bytes a transaction',
      samples: sizes.map((one) => one.accounts),
    },
  ];
}

/** @throws BenchmarkError where rows are missing: the times would not be comparable */
async function requireAll({ database }: ScratchDatabase, blocks: number): Promise<void> {
  const [row] = await database.query<{ transactions: number }>('SELECT count(*) AS transactions FROM transactions');
  const wanted = blocks * TRANSACTIONS_PER_BLOCK;
  if (row?.transactions !== wanted)
    throw new BenchmarkError(`${row?.transactions} transactions were written instead of ${wanted}`);
}
