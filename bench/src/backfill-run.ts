import { fileURLToPath } from 'node:url';
import type { BenchNode, RequestCounts, ScratchDatabase, ScratchServer } from '@chainstead/testkit';
import type { BareBackfillPlan } from './bare/bare-backfill.ts';
import { CHAIN_ID, urlsOf } from './bench-chain.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { ERC20_ONLY, startChainstead } from './chainstead-program.ts';
import { type MeasuredProcess, type MemorySample, startProcess } from './measured-process.ts';
import { type ProcessorTime, readProcessorTime, timeBetween } from './processor-time.ts';

/** Some 9,000 logs on the benchmark's chain: what a provider allows, with room to spare. */
const BARE_RANGE_BLOCKS = 100;

/** What is indexed: blocks 1 to `blocks`, into a fresh database. */
export interface BackfillPlan {
  readonly server: Pick<ScratchServer, 'createDatabase'>;
  readonly node: BenchNode;
  readonly blocks: number;
  /** URLs of the node that the indexer is given. Default 1. */
  readonly urls?: number;
  /** Whole receipts instead of filtered logs. Default false. */
  readonly proven?: boolean;
  /** What the program keeps: what the peers keep, or everything, as it does by default. Default `erc20`. */
  readonly datasets?: 'erc20' | 'all';
  /** A declared bulk load: secondary indexes are left out and built at its end, which counts. Default false. */
  readonly bulk?: boolean;
  /** Processes of the program that fill the range together. Default 1. */
  readonly processes?: number;
  /** Blocks of a range that the bare script reads at once. Default 100. */
  readonly bareRangeBlocks?: number;
  /** Fills the migrated database before the run. */
  prepare?(scratch: ScratchDatabase): Promise<void>;
  /** Looks at the filled database before it is dropped. */
  inspect?(scratch: ScratchDatabase): Promise<void>;
}

export interface BackfillRun {
  /** From the start of the process to its end. */
  readonly seconds: number;
  readonly transfers: number;
  readonly transfersPerSecond: number;
  readonly blocksPerSecond: number;
  readonly memory: readonly MemorySample[];
  readonly counts: RequestCounts;
  /** What the run took of the processors; null where that can't be read. */
  readonly processor: ProcessorTime | null;
}

/** `chainstead backfill` as an operator would run it. */
export function runChainstead(plan: BackfillPlan): Promise<BackfillRun> {
  return runBackfill(plan, (databaseUrl, rpcUrls) =>
    startChainstead(['backfill', ...rangeArguments(plan.blocks), ...(plan.bulk === true ? ['--bulk'] : [])], {
      databaseUrl,
      rpcUrls,
      env: {
        BACKFILL_PROOF: plan.proven === true ? 'receipts' : 'none',
        INGEST_PROCESSES: String(plan.processes ?? 1),
        ...(plan.datasets === 'all' ? {} : ERC20_ONLY),
      },
    }),
  );
}

/** The range of the benchmark as the program's commands take it. */
export function rangeArguments(blocks: number): string[] {
  return ['--chain', 'eth', '--from', '1', '--to', String(blocks)];
}

/** The bare script into the same tables. */
export function runBareScript(plan: BackfillPlan): Promise<BackfillRun> {
  return runBackfill(plan, (databaseUrl, rpcUrls) => {
    const told: BareBackfillPlan = {
      databaseUrl,
      rpcUrls,
      chainId: CHAIN_ID,
      from: 1,
      to: plan.blocks,
      mode: plan.proven === true ? 'receipts' : 'logs',
      rangeBlocks: plan.bareRangeBlocks ?? BARE_RANGE_BLOCKS,
    };
    return startProcess({
      args: [fileURLToPath(new URL('./bare/bare-backfill.ts', import.meta.url)), JSON.stringify(told)],
      env: {},
    });
  });
}

async function runBackfill(
  plan: BackfillPlan,
  start: (databaseUrl: string, rpcUrls: readonly string[]) => MeasuredProcess,
): Promise<BackfillRun> {
  const { server, node, blocks } = plan;
  const scratch = await server.createDatabase();
  try {
    await plan.prepare?.(scratch);
    await scratch.database.query('CHECKPOINT');
    await node.resetCounters();
    const postmaster = await postmasterOf(scratch);
    const before = readProcessorTime(node.pid, postmaster);
    const process = start(scratch.url, urlsOf(node, plan.urls ?? 1));
    await process.finished();
    const seconds = process.elapsedMs() / 1_000;
    const after = readProcessorTime(node.pid, postmaster);
    const counts = await node.counters();
    const transfers = await countTransfers(scratch);
    await plan.inspect?.(scratch);
    return {
      seconds,
      transfers,
      transfersPerSecond: transfers / seconds,
      blocksPerSecond: blocks / seconds,
      memory: process.memory,
      counts,
      processor: before === null || after === null ? null : timeBetween(before, after),
    };
  } finally {
    await scratch.drop();
  }
}

/** The server's process, by the first line of its own file; 0 where its user may not read that. */
async function postmasterOf({ database }: ScratchDatabase): Promise<number> {
  const [role] = await database.query<{ may: boolean }>("SELECT pg_has_role('pg_read_server_files', 'MEMBER') AS may");
  if (role?.may !== true) return 0;
  const [file] = await database.query<{ text: string }>("SELECT pg_read_file('postmaster.pid') AS text");
  return Number.parseInt(file?.text ?? '0', 10);
}

async function countTransfers({ database }: ScratchDatabase): Promise<number> {
  const [row] = await database.query<{ transfers: number }>(
    'SELECT count(*) AS transfers FROM erc20_transfers WHERE direction <> 1',
  );
  return row?.transfers ?? 0;
}

/** Both sides must have written the same number of transfers, else their times are not comparable. @throws BenchmarkError */
export function requireSameWork(...runs: readonly { readonly transfers: number }[]): void {
  const counts = new Set(runs.map((run) => run.transfers));
  if (counts.size !== 1 || counts.has(0))
    throw new BenchmarkError(`The sides wrote different numbers of transfers: ${[...counts].join(', ')}`);
}
