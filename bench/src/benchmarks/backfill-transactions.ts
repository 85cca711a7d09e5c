import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { sql } from '@chainstead/db';
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
const SCRIPT = fileURLToPath(new URL('../bare/bare-transactions.ts', import.meta.url));
const RECOVERY = fileURLToPath(new URL('../bare/bare-recovery.ts', import.meta.url));

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
          `${blocks} blocks of ${TRANSACTIONS_PER_BLOCK} signed transactions with two logs and 68 bytes of calldata each. Datasets: ${DATASETS}.`,
          'The script proves nothing, and believes the senders. VERIFY_SENDERS=off believes them too, and proves the rest.',
          'VERIFY_SENDERS=on, the default, is compared with the same script while processes on all cores only recover as many senders. No program does both in less time.',
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
    (start: (databaseUrl: string) => readonly [MeasuredProcess, ...MeasuredProcess[]], isOurs = false) =>
    async () => {
      const scratch = await server.createDatabase();
      try {
        const processes = start(scratch.url);
        await Promise.all(processes.map((process) => process.finished()));
        const seconds = processes[0].elapsedMs() / 1_000;
        await requireAll(scratch, blocks);
        if (isOurs) sizes.push(await tableSizes(scratch));
        return (blocks * TRANSACTIONS_PER_BLOCK) / seconds;
      } finally {
        await scratch.drop();
      }
    };
  const program = (senders: 'on' | 'off') =>
    timed(
      (databaseUrl) => [
        startChainstead(['backfill', ...rangeArguments(blocks)], {
          databaseUrl,
          rpcUrls: [node.url],
          env: { DATASETS, TRANSACTIONS_ETH: 'all', VERIFY_SENDERS: senders },
        }),
      ],
      true,
    );
  const startScript = (databaseUrl: string): MeasuredProcess => {
    const plan: BareTransactionsPlan = { databaseUrl, rpcUrl: node.url, chainId: CHAIN_ID, from: 1, to: blocks };
    return startProcess({ args: [SCRIPT, JSON.stringify(plan)], env: {} });
  };
  const script = timed((databaseUrl) => [startScript(databaseUrl)]);
  const scriptBesideRecovery = timed((databaseUrl) => [startScript(databaseUrl), ...startRecovery(blocks)]);
  const comparisons: Comparison[] = [];
  const at = `${latencyMs} ms, VERIFY_SENDERS=`;
  for (const [senders, name, run] of [
    ['off', 'bare script', script],
    ['on', 'bare script during recovery', scriptBesideRecovery],
  ] as const) {
    const { first, second } = await alternate(
      runs,
      { name: `chainstead, ${at}${senders}`, run: program(senders) },
      { name: `${name}, ${latencyMs} ms`, run },
      say,
    );
    const target = { atLeast: 0.6 };
    comparisons.push({
      name: `${at}${senders}, ${name}`,
      unit: 'transactions/s',
      ours: first,
      peer: second,
      target,
    });
  }
  const [off, on] = comparisons;
  if (off !== undefined && on !== undefined)
    comparisons.push({ name: `${at}on, bare script`, unit: 'transactions/s', ours: on.ours, peer: off.peer });
  return comparisons;
}

/** As many senders as the blocks have, on all cores. */
function startRecovery(blocks: number): MeasuredProcess[] {
  const cores = availableParallelism();
  const count = Math.ceil((blocks * TRANSACTIONS_PER_BLOCK) / cores);
  return Array.from({ length: cores }, () => startProcess({ args: [RECOVERY, String(count)], env: {} }));
}

/** Bytes a transaction, with indexes. */
interface TableSizes {
  readonly transactions: number;
  readonly accounts: number;
}

async function tableSizes({ database }: ScratchDatabase): Promise<TableSizes> {
  const sizeOf = (table: string) =>
    sql`(SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(${table}))::float8 / (SELECT count(*) FROM transactions)`;
  const [row] = await database.query<{ transactions: number; accounts: number }>(
    sql`SELECT ${sizeOf('transactions')} AS transactions, ${sizeOf('account_transactions')} AS accounts`,
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
  const [row] = await database.query<{ transactions: number }>(
    sql`SELECT count(*) AS transactions FROM transactions`,
  );
  const wanted = blocks * TRANSACTIONS_PER_BLOCK;
  if (row?.transactions !== wanted)
    throw new BenchmarkError(`${row?.transactions} transactions were written instead of ${wanted}`);
}
