import { rawSql, type Sql, sql } from '@chainstead/db';
import type { BenchNodeOptions, ScratchDatabase, ScratchServer } from '@chainstead/testkit';
import { alternate } from './alternate.ts';
import { rangeArguments } from './backfill-run.ts';
import type { BenchmarkContext, BenchmarkReport } from './benchmark.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { startChainstead } from './chainstead-program.ts';
import { findDifferent } from './compare-contract.ts';
import { summarize, type TableContents } from './contract-run.ts';
import { PONDER_SCHEMA, type PonderPlan, runPonder } from './ponder-project.ts';
import { withNode } from './with-node.ts';

const PONDER_SECONDS_MAX = 900;
/** Its rate per URL binds no longer. */
export const PONDER_URLS = 8;

export interface BlocksCase {
  readonly name: string;
  readonly rows: 'header' | 'transaction';
  readonly blocks: number;
  readonly chain: Partial<BenchNodeOptions>;
}

interface Timed extends TableContents {
  readonly seconds: number;
}

const DATASETS = { header: 'block-headers', transaction: 'transactions' } as const;
const hex = (column: string): Sql => sql`'0x' || encode(${rawSql(column)}, 'hex')`;
/** Columns in the same order on both sides. */
const OURS = {
  header: sql`SELECT block_number::numeric, 0 AS place, ${hex('h.block_hash')}, ${hex('h.parent_hash')},
    extract(epoch FROM block_timestamp)::bigint, ${hex('miner')}, gas_used AS value
    FROM block_headers h JOIN blocks USING (chain_id, block_number)`,
  transaction: sql`SELECT block_number::numeric, transaction_index AS place, ${hex('transaction_hash')}, ${hex('from_address')},
    ${hex('to_address')}, value, nonce, gas FROM transactions`,
};
const PEER = {
  header: sql`SELECT number AS block_number, 0 AS place, hash, parent_hash, timestamp, miner, gas_used AS value
    FROM ${rawSql(PONDER_SCHEMA)}.header`,
  transaction: sql`SELECT block_number, transaction_index AS place, hash, "from", "to", value, nonce, gas
    FROM ${rawSql(PONDER_SCHEMA)}.transaction`,
};

/** Both sides store every header, or every transaction, of the same node, and must have equal rows. */
export function compareBlocks(context: BenchmarkContext, plan: BlocksCase): Promise<BenchmarkReport> {
  const { server, runs, say } = context;
  const { name, rows, blocks, chain } = plan;
  return withNode(blocks, chain, async (node) => {
    const { first: ours, second: peer } = await alternate(
      runs,
      { name: `chainstead, ${name}`, run: () => runOurs(server, node.url, plan) },
      {
        name: `Ponder, ${name}`,
        run: () => runPeer({ server, node, blocks, urls: PONDER_URLS, seconds: PONDER_SECONDS_MAX }, rows),
      },
      say,
    );
    const different = findDifferent(ours, peer);
    const rate = ({ rows: count, seconds }: Timed): number => count / seconds;
    return {
      comparisons: [{ name, unit: `${rows}s/s`, ours: ours.map(rate), peer: peer.map(rate) }],
      measures: [],
      notes: [
        `${name}: ${ours[0]?.rows} rows, the same in ${peer.length - different.length} of ${peer.length} runs of Ponder.`,
      ],
    };
  });
}

async function runOurs(
  server: Pick<ScratchServer, 'createDatabase'>,
  url: string,
  { rows, blocks }: BlocksCase,
): Promise<Timed> {
  const scratch = await server.createDatabase();
  try {
    const env = { DATASETS: DATASETS[rows], TRANSACTIONS_ETH: 'all' };
    const place = { databaseUrl: scratch.url, rpcUrls: [url], env };
    const program = startChainstead(['backfill', ...rangeArguments(blocks)], place);
    await program.finished();
    const seconds = program.elapsedMs() / 1_000;
    return { seconds, ...(await summarize(scratch.database, OURS[rows], ['block_number', 'place'])) };
  } finally {
    await scratch.drop();
  }
}

async function runPeer(plan: PonderPlan, rows: BlocksCase['rows']): Promise<Timed> {
  let contents: TableContents | undefined;
  const { complete, seconds } = await runPonder({
    ...plan,
    project: { folder: 'blocks', config: 'ponder.config.ts', env: { BENCH_ROWS: rows } },
    async inspect({ database }: ScratchDatabase) {
      contents = await summarize(database, PEER[rows], ['block_number', 'place']);
    },
  });
  if (!complete || contents === undefined)
    throw new BenchmarkError(`Ponder was not complete after ${PONDER_SECONDS_MAX} s`);
  return { seconds, ...contents };
}
