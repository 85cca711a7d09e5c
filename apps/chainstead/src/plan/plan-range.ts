import { networkOfChain } from '@chainstead/aptos/ledger-info';
import type { Chain } from '@chainstead/chains';
import { type BlockRange, createMetricsRegistry, type Finding } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { readSettledHeight } from '@chainstead/sync/ingest';
import { blockAtTime } from '@chainstead/transactions';
import { tryToOpen } from '../doctor/examine-storage.ts';
import { examineSchema } from '../doctor/examine-upgrade.ts';
import type { Report } from '../doctor/report.ts';
import { UsageError } from '../errors/usage-error.ts';
import type { Invocation } from '../session/command-context.ts';
import { commandLogger } from '../session/command-session.ts';
import { readChainConfiguration } from '../session/read-configuration.ts';
import { createSignerProcesses } from '../session/signer-processes.ts';
import type { Storage } from '../session/storage.ts';
import { openPool } from '../session/upstream-pools.ts';
import { makePlan } from './make-plan.ts';

interface PlanOptions {
  readonly chain?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Uses the database if one of this version exists, for the size of its rows and the blocks that are indexed. */
export async function planRange({ options, command, context }: Invocation<PlanOptions>): Promise<Report> {
  const { chain, from, to } = options;
  if (chain === undefined || from === undefined)
    throw new UsageError('--plan needs --chain and --from', 'Add the chain, and the first block or a date');
  if (networkOfChain(chain) !== null)
    throw new UsageError('--plan does not support Aptos', 'Use an EVM chain of CHAINS');
  const bounds = { from: parseBound('--from', from), to: to === undefined ? null : parseBound('--to', to) };
  const { configuration, configured } = readChainConfiguration(chain, command, context);
  const { clock, stopSignal: signal } = context;
  const logger = commandLogger(configuration, context);
  const pool = openPool(configured, { logger, metrics: createMetricsRegistry(), clock });
  const { recover: recoverSigners, close: closeSigners } = createSignerProcesses();
  let storage: Storage | null = null;
  try {
    await pool.start();
    const range = await resolveBounds({ chain: configured.chain, pool }, bounds, signal);
    const opened = await tryToOpen({ configuration, logger, clock });
    let problem: Finding | null = null;
    if ('finding' in opened) problem = opened.finding;
    else {
      storage = opened.storage;
      const { schema, migrations } = await examineSchema(storage.database);
      if (migrations?.pending.length !== 0) problem = schema;
    }
    const database = problem === null && storage !== null ? storage.database : null;
    const shared = { configuration, configured, pool, clock, logger, recoverSigners };
    const plan = await makePlan({ ...shared, database }, [range], signal);
    return problem === null ? plan : { ...plan, findings: [problem, ...plan.findings] };
  } finally {
    await Promise.all([pool.close(), closeSigners(), storage?.close()]);
  }
}

type BlockBound = { readonly block: number } | { readonly seconds: number };

const BLOCK = /^\d+$/;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/;

/** @throws UsageError */
function parseBound(option: string, text: string): BlockBound {
  const block = BLOCK.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(block)) return { block };
  const time = DATE.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse accepts February 30.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 10)))
    return { seconds: time / 1_000 };
  throw new UsageError(
    `${option} ${text} is not a block or a date`,
    'Use a block number, or a date such as 2023-01-01 or 2023-01-01T12:00Z',
  );
}

interface Reader {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
}

/** Dates count in UTC. @param to absent: the newest final block. @throws UsageError */
async function resolveBounds(
  reader: Reader,
  { from, to }: { readonly from: BlockBound; readonly to: BlockBound | null },
  signal: AbortSignal,
): Promise<BlockRange> {
  const settled = await readSettledHeight(reader.pool, reader.chain);
  const first = await blockOf(reader, '--from', from, 'after', signal);
  const last = to === null ? settled : await blockOf(reader, '--to', to, 'before', signal);
  if (last > settled)
    throw new UsageError(`Block ${last} is not final: the newest final block is ${settled}`, 'Leave out --to');
  if (first > last)
    throw new UsageError(`The last block ${last} is below the first ${first}`, 'Choose another range');
  return { from: Math.max(first, reader.chain.firstBlock), to: last };
}

async function blockOf(
  { chain, pool }: Reader,
  option: string,
  bound: BlockBound,
  closest: 'after' | 'before',
  signal: AbortSignal,
): Promise<number> {
  if ('block' in bound) return bound.block;
  const time = bound.seconds;
  const { block } = await blockAtTime({ chain, pool, known: async () => [] }, { time, closest }, signal);
  if (closest === 'after' ? block.timestamp >= time : block.timestamp <= time) return block.number;
  const date = new Date(time * 1_000).toISOString();
  const what = closest === 'after' ? 'no block since' : 'no block before';
  throw new UsageError(`${option}: ${chain.key} has ${what} ${date}`, 'Use another date, or a block number');
}
