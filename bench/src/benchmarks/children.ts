import { rawSql, sql } from '@chainstead/db';
import {
  BENCH_CREATION_EVENT,
  type BenchNode,
  type ScratchDatabase,
  type ScratchServer,
} from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import { rangeArguments } from '../backfill-run.ts';
import { CHAIN_ID } from '../bench-chain.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { addContract, CONTRACT_TABLE } from '../contract-run.ts';
import { withNode } from '../with-node.ts';

/** Children that emit events. */
const ACTIVE_CHILDREN = 10_000;
const STRANGERS = 200;
const CREATIONS_TABLE = 'contracts.token_created';
/** Datasets that the chain has no events of: only the contract is measured. */
const NOTHING_ELSE = { DATASETS: 'erc20-approvals' } as const;
const SLOWER_AT_MOST = 1.2;
const MEMORY_MB_MAX = 200;

interface ChildrenRun {
  readonly seconds: number;
  readonly rows: number;
  readonly megabytes: number;
}

/** Whether many children of a factory make the matching of events slower, or hold memory. */
export const children: Benchmark = {
  name: 'children',
  title: 'Backfill of the events of children, with many silent children against none',
  run: ({ server, sizes, runs, say }) => {
    const active = Math.min(ACTIVE_CHILDREN, sizes.blocks);
    const options = { children: active, tokens: STRANGERS, transferShare: 1 };
    return withNode(sizes.blocks, options, async (node) => {
      await using databases = new AsyncDisposableStack();
      const prepare = async (silent: number): Promise<ScratchDatabase> => {
        say(`  ${active + silent} children are stored`);
        return databases.adopt(await prepareChildren(server, node, sizes.blocks, silent), (one) => one.drop());
      };
      const few = await prepare(0);
      const many = await prepare(sizes.children - active);
      const { first, second } = await alternate(
        runs,
        { name: `${sizes.children} children`, run: () => backfillChildren(many, node, sizes.blocks) },
        { name: `${active} children`, run: () => backfillChildren(few, node, sizes.blocks) },
        say,
      );
      const counts = new Set([...first, ...second].map(({ rows }) => rows));
      if (counts.size !== 1 || counts.has(0))
        throw new BenchmarkError(`Numbers of rows: ${[...counts].join(', ')}`);
      return {
        comparisons: [
          {
            ...{ name: `time with ${sizes.children} children`, unit: 's', target: { atMost: SLOWER_AT_MOST } },
            ...{ ours: first.map(({ seconds }) => seconds), peer: second.map(({ seconds }) => seconds) },
          },
        ],
        measures: [
          {
            ...{ name: 'additional memory', unit: 'MB', target: { atMost: MEMORY_MB_MAX } },
            samples: first.map(({ megabytes }, run) => megabytes - (second[run]?.megabytes ?? 0)),
          },
        ],
        notes: [
          `${[...counts].join()} events of ${active} children in ${node.facts.logs} logs. Times include the start.`,
        ],
      };
    });
  },
};

/** A database with the contract and all creations, those of `silent` further children too. */
async function prepareChildren(
  server: Pick<ScratchServer, 'createDatabase'>,
  node: BenchNode,
  blocks: number,
  silent: number,
): Promise<ScratchDatabase> {
  const scratch = await server.createDatabase();
  const { database, url: databaseUrl } = scratch;
  const { factory } = node.facts;
  if (factory === null) throw new BenchmarkError('The chain has no factory');
  await addContract({ databaseUrl, rpcUrls: [node.url] }, { address: factory, creation: BENCH_CREATION_EVENT });
  // Children are known from the second run on, once all creations are covered.
  await backfill(scratch, node, blocks);
  await database.query(
    sql`INSERT INTO ${rawSql(CREATIONS_TABLE)} (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract, child, number)
     SELECT ${CHAIN_ID}, 1, 1000 + number, 1000 + number, now(), sha256(int4send(number)), decode(substr(${factory}, 3), 'hex'), substr(sha256(int4send(number)), 1, 20), number
     FROM generate_series(1, ${silent}::int) AS number`,
  );
  await database.query(sql`VACUUM ANALYZE ${rawSql(CREATIONS_TABLE)}`);
  return scratch;
}

async function backfillChildren(scratch: ScratchDatabase, node: BenchNode, blocks: number): Promise<ChildrenRun> {
  const { database } = scratch;
  await database.query(sql`TRUNCATE ${rawSql(CONTRACT_TABLE)}`);
  await database.query(sql`DELETE FROM sync_ranges WHERE dataset = ${CONTRACT_TABLE}`);
  await database.query(sql`CHECKPOINT`);
  const process = await backfill(scratch, node, blocks);
  const [counted] = await database.query<{ rows: number }>(
    sql`SELECT count(*) AS rows FROM ${rawSql(CONTRACT_TABLE)}`,
  );
  return {
    seconds: process.elapsedMs / 1_000,
    rows: counted?.rows ?? 0,
    megabytes: process.peakBytes / 1e6,
  };
}

async function backfill({ url: databaseUrl }: ScratchDatabase, node: BenchNode, blocks: number) {
  const place = { databaseUrl, rpcUrls: [node.url], env: { ...NOTHING_ELSE, BACKFILL_PROOF: 'none' } };
  const process = startChainstead(['backfill', ...rangeArguments(blocks)], place);
  await process.finished();
  return {
    elapsedMs: process.elapsedMs(),
    peakBytes: Math.max(0, ...process.memory.map((sample) => sample.bytes)),
  };
}
