import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '@chainstead/db';
import type { BenchNode, ScratchDatabase, ScratchServer } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import { CHAIN_ID } from '../bench-chain.ts';
import type { Benchmark, BenchmarkSizes } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { ERC20_ONLY, startChainstead } from '../chainstead-program.ts';
import { walletsInShare } from '../rare-wallets.ts';
import { addAddresses, addStreams, streamId } from '../stream-rows.ts';
import { withNode } from '../with-node.ts';

const TRANSACTIONS_PER_BLOCK = 50;
const MATCHING_SHARE = 0.01;
/** What really matched may be off by so much: wallets are chosen by a sample. */
const SHARE_TOLERANCE = 0.3;
const LOOK_EVERY_MS = 50;
const PATIENCE_MS = 300_000;

/** What is watched while blocks are followed. Null: nothing. */
interface Watched {
  readonly occurring: readonly string[];
  readonly includeNativeTxs: boolean;
}

interface FollowRun {
  readonly blocksPerSecond: number;
  /** From the process' start to its first commit: with streams, their addresses are loaded in that time. */
  readonly startSeconds: number;
  readonly transfers: number;
  readonly matchedTransactions: number;
}

/** The follower behind its head: whole receipts, proven, and every address in them looked up among a million. */
export const streamsMatching: Benchmark = {
  name: 'streams-matching',
  title: 'Catching up with watched addresses, against catching up without streams',
  run: ({ server, sizes, runs, say }) =>
    withNode(sizes.matchedBlocks, { transactionsPerBlock: TRANSACTIONS_PER_BLOCK }, async (node) => {
      const occurring = await walletsInShare(node, MATCHING_SHARE);
      const follow = (watched: Watched | null): Promise<FollowRun> => followChain(server, node, sizes, watched);
      const without = { name: 'without streams', run: () => follow(null) };
      const logs = await alternate(
        runs,
        { name: 'logs', run: () => follow({ occurring, includeNativeTxs: false }) },
        without,
        say,
      );
      const native = await alternate(
        runs,
        { name: 'logs and transactions', run: () => follow({ occurring, includeNativeTxs: true }) },
        without,
        say,
      );
      requireSameRows([...logs.first, ...logs.second, ...native.first, ...native.second]);
      const share = requireShare(native.first, sizes);
      const rates = (side: readonly FollowRun[]): number[] => side.map((run) => run.blocksPerSecond);
      const unit = 'blocks/s';
      const target = { atLeast: 0.8 };
      return {
        comparisons: [
          { name: 'logs matched', unit, ours: rates(logs.first), peer: rates(logs.second), target },
          {
            name: 'logs and transactions matched',
            unit,
            ours: rates(native.first),
            peer: rates(native.second),
            target,
          },
        ],
        measures: [
          {
            name: 'process start to first commit, with streams',
            unit: 's',
            samples: logs.first.map((run) => run.startSeconds),
          },
          {
            name: 'process start to first commit, without',
            unit: 's',
            samples: logs.second.map((run) => run.startSeconds),
          },
        ],
        notes: [
          'Here the peer is Chainstead itself without streams. Rates are of the time from the first commit to the last.',
          `${sizes.watchedAddresses} addresses in ${sizes.watchingStreams} streams, of which ${occurring.length} occur; ${(100 * share).toFixed(2)} % of the transactions match.`,
          'If transactions are matched too, blocks are requested with transaction objects, unlike without streams.',
        ],
      };
    }),
};

async function followChain(
  server: ScratchServer,
  node: BenchNode,
  sizes: BenchmarkSizes,
  watched: Watched | null,
): Promise<FollowRun> {
  const scratch = await server.createDatabase();
  try {
    if (watched !== null) await watch(scratch, sizes, watched);
    await scratch.database.query(sql`CHECKPOINT`);
    const program = startChainstead(['start', '--roles', 'ingest'], {
      databaseUrl: scratch.url,
      rpcUrls: [node.url],
      env: {
        ...ERC20_ONLY,
        START_BLOCK_ETH: '1',
        END_BLOCK_ETH: String(sizes.matchedBlocks),
        // Nothing counts as history then: every block is followed.
        REORG_DEPTH_MAX_ETH: '1000000',
      },
    });
    try {
      const first = await committed(scratch, 1);
      const startSeconds = program.elapsedMs() / 1_000;
      const last = await committed(scratch, sizes.matchedBlocks);
      return {
        blocksPerSecond: ((last.block - first.block) * 1_000) / (last.at - first.at),
        startSeconds,
        ...(await countRows(scratch)),
      };
    } finally {
      await program.stop();
    }
  } finally {
    await scratch.drop();
  }
}

async function watch(scratch: ScratchDatabase, sizes: BenchmarkSizes, watched: Watched): Promise<void> {
  const ids = Array.from({ length: sizes.watchingStreams }, (_, number) => streamId(number));
  const { includeNativeTxs, occurring } = watched;
  await addStreams(
    scratch,
    ids.map((id) => ({ id, webhookUrl: 'http://127.0.0.1:9/', includeNativeTxs })),
  );
  await addAddresses(scratch, ids, { occurring, count: sizes.watchedAddresses });
}

/** Waits until so many blocks are followed. */
async function committed({ database }: ScratchDatabase, blocks: number): Promise<{ block: number; at: number }> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const [row] = await database.query<{ checkpoint: number | null }>(
      sql`SELECT checkpoint FROM sync_chains WHERE chain_id = ${CHAIN_ID}`,
    );
    const at = performance.now();
    const block = row?.checkpoint ?? 0;
    if (block >= blocks) return { block, at };
    if (at > deadline) throw new BenchmarkError(`Following stopped at block ${block}`);
    await sleep(LOOK_EVERY_MS);
  }
}

async function countRows({
  database,
}: ScratchDatabase): Promise<Pick<FollowRun, 'transfers' | 'matchedTransactions'>> {
  const [row] = await database.query<{ transfers: number; matched: number }>(
    sql`SELECT (SELECT count(*) FROM erc20_transfer_sides WHERE direction <> 1) AS transfers,
       (SELECT count(DISTINCT coalesce(item::jsonb ->> 'hash', item::jsonb ->> 'transactionHash')) FROM stream_items
        WHERE kind < 2) AS matched`,
  );
  if (row === undefined) throw new BenchmarkError('Nothing could be counted');
  return { transfers: row.transfers, matchedTransactions: row.matched };
}

/** Derived rows of the blocks must not depend on streams. @throws BenchmarkError */
function requireSameRows(all: readonly FollowRun[]): void {
  const counts = new Set(all.map((run) => run.transfers));
  if (counts.size !== 1 || counts.has(0))
    throw new BenchmarkError(`Runs wrote different numbers of transfers: ${[...counts].join(', ')}`);
}

/** @returns the share of transactions that matched. @throws BenchmarkError when it is far from what is to be measured */
function requireShare(all: readonly FollowRun[], { matchedBlocks }: BenchmarkSizes): number {
  const shares = all.map((run) => run.matchedTransactions / (matchedBlocks * TRANSACTIONS_PER_BLOCK));
  const worst = shares.find((share) => Math.abs(share / MATCHING_SHARE - 1) > SHARE_TOLERANCE);
  if (worst !== undefined)
    throw new BenchmarkError(`${worst} of the transactions matched instead of ${MATCHING_SHARE}`);
  return shares[0] ?? Number.NaN;
}
