import { fileURLToPath } from 'node:url';
import { sql } from '@chainstead/db';
import type { BenchNode, ScratchDatabase, ScratchServer } from '@chainstead/testkit';
import type { BareBackfillPlan } from './bare/bare-backfill.ts';
import type { BareHistoryPlan } from './bare/bare-history.ts';
import { CHAIN_ID, urlsOf } from './bench-chain.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { ERC20_ONLY, startChainstead } from './chainstead-program.ts';
import { type MeasuredProcess, type MemorySample, startProcess } from './measured-process.ts';

/** About 9,000 logs on the benchmark's chain: within the limit of a provider, with room to spare. */
const BARE_RANGE_BLOCKS = 100;

const SOURCE_FAILURE = 'A source of history failed';

/** A backfill of blocks 1 to `blocks` into a fresh database. */
export interface BackfillPlan {
  readonly server: Pick<ScratchServer, 'createDatabase'>;
  readonly node: Pick<BenchNode, 'url'>;
  readonly blocks: number;
  /** URLs of the node that the indexer is given. Default 1. */
  readonly urls?: number;
  /** Whole receipts instead of filtered logs. Default false. */
  readonly proven?: boolean;
  /** URL of the Portal that the program reads first. Default none. */
  readonly portal?: string;
  /** Folder of era files that the program reads first. Default none. */
  readonly era?: string;
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
  readonly cpuSeconds: number;
}

/** `chainstead backfill` as an operator would run it. */
export async function runChainstead(plan: BackfillPlan): Promise<BackfillRun> {
  const failures: string[] = [];
  const run = await runBackfill(plan, (databaseUrl, rpcUrls) => {
    const program = startChainstead(['backfill', ...rangeArguments(plan.blocks)], {
      databaseUrl,
      rpcUrls,
      env: {
        ...ERC20_ONLY,
        BACKFILL_PROOF: plan.proven === true ? 'receipts' : 'none',
        ...(plan.portal !== undefined && { HISTORY_ETH: `portal:${plan.portal}` }),
        ...(plan.era !== undefined && { HISTORY_ETH: `era:${plan.era}` }),
      },
    });
    program.onLine((line) => {
      if (line.includes(SOURCE_FAILURE)) failures.push(line);
    });
    return program;
  });
  // The rest came from the node.
  if (failures.length > 0) throw new BenchmarkError(`The source was left: ${failures.join()}`);
  return run;
}

/** The range of the benchmark as the program's commands take it. */
export function rangeArguments(blocks: number): string[] {
  return ['--chain', 'eth', '--from', '1', '--to', String(blocks)];
}

/** The bare script into the same tables. */
export function runBareScript(plan: BackfillPlan): Promise<BackfillRun> {
  return runBackfill(plan, (databaseUrl, rpcUrls) => {
    const reported: BareBackfillPlan = {
      databaseUrl,
      rpcUrls,
      chainId: CHAIN_ID,
      from: 1,
      to: plan.blocks,
      mode: plan.proven === true ? 'receipts' : 'logs',
      rangeBlocks: BARE_RANGE_BLOCKS,
    };
    return startProcess({
      args: [fileURLToPath(new URL('./bare/bare-backfill.ts', import.meta.url)), JSON.stringify(reported)],
      env: {},
    });
  });
}

/** The bare script that reads a Portal's stream. */
export function runBareHistory(plan: BackfillPlan & { readonly portal: string }): Promise<BackfillRun> {
  return runBackfill(plan, (databaseUrl) => {
    const script: BareHistoryPlan = {
      databaseUrl,
      portal: plan.portal,
      chainId: CHAIN_ID,
      from: 1,
      to: plan.blocks,
    };
    return startProcess({
      args: [fileURLToPath(new URL('./bare/bare-history.ts', import.meta.url)), JSON.stringify(script)],
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
    await scratch.database.query(sql`CHECKPOINT`);
    const process = start(scratch.url, urlsOf(node, plan.urls ?? 1));
    await process.finished();
    const seconds = process.elapsedMs() / 1_000;
    const transfers = await countTransfers(scratch);
    await plan.inspect?.(scratch);
    return {
      seconds,
      transfers,
      transfersPerSecond: transfers / seconds,
      blocksPerSecond: blocks / seconds,
      memory: process.memory,
      cpuSeconds: process.cpuSeconds(),
    };
  } finally {
    await scratch.drop();
  }
}

async function countTransfers({ database }: ScratchDatabase): Promise<number> {
  const [row] = await database.query<{ transfers: number }>(
    sql`SELECT count(*) AS transfers FROM erc20_transfer_sides WHERE direction <> 1`,
  );
  return row?.transfers ?? 0;
}

/** Both sides must have written the same number of transfers, else their times are not comparable. @throws BenchmarkError */
export function requireSameWork(...runs: readonly { readonly transfers: number }[]): void {
  const counts = new Set(runs.map((run) => run.transfers));
  if (counts.size !== 1 || counts.has(0))
    throw new BenchmarkError(`The sides wrote different numbers of transfers: ${[...counts].join(', ')}`);
}
