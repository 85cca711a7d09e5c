import type { Chain } from '@chainstead/chains';
import {
  type ChainId,
  ChainsteadError,
  counter,
  defineError,
  defineMetrics,
  isAddress,
  parseAddress,
  type Registry,
} from '@chainstead/core';
import { columnList, columnsAs, type Database, rawSql, type Sql, sql } from '@chainstead/db';
import { backoffSeconds, type Claim, failDue } from '@chainstead/jobs';
import type { DueWork } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import { readChainState } from '@chainstead/sync/checkpoint';
import type { Projection } from '@chainstead/sync/datasets';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import type { ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import { recomputePool } from '../exchanges/prove-pool.ts';
import { poolCreations, pools, swaps } from '../tables/schema.ts';
import type { PoolVerdict, ProofContext } from './pool-proof-steps.ts';
import {
  DUE_POOLS,
  IS_OPEN,
  POOL_WORK,
  type PoolOutcome,
  readCreations,
  storeOutcomes,
  UNPROVEN_POOL_COLUMNS,
  type UnprovenPool,
} from './pool-rows.ts';
import { provePools } from './prove-pools.ts';

interface PoolProofOptions {
  readonly database: Database;
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
  readonly metrics: Registry;
}

const BATCH = 100;
const CONCURRENCY = 1;
/** Milliseconds per batch. */
const BATCH_MS_MAX = 90_000;
/** Milliseconds. Commits leave pools without a notification. */
const SWEEP_EVERY_MS = 5_000;
const RETRY_SECONDS = { base: 10, max: 3_600 } as const;

export const createPoolProofMetrics = defineMetrics('chainstead', {
  poolProofs: counter(
    'Number of examined pools by proof: creation, address, factory, none (no factory of a known exchange acknowledges the pool), undecided (only a creation event can prove it)',
    ['chain', 'proof'],
  ),
});

/** By an event, else an address that only the factory can create, else a call of the factory. */
export function addPoolProofs(dueWork: Pick<DueWork, 'add'>, options: PoolProofOptions): void {
  const { database } = options;
  const { poolProofs } = createPoolProofMetrics(options.metrics);

  async function prove(
    { chain, pool: upstreams }: PoolProofOptions['chains'][number],
    claims: readonly Claim<UnprovenPool>[],
    signal: AbortSignal,
  ): Promise<void> {
    const exchanges = exchangesOf(chain);
    const pools = claims.map(({ row }) => row.pool);
    const created = await readCreations(database, chain.id, exchanges, pools);
    const outcomes = claims.map(({ row }) => created.get(row.pool) ?? outcomeOfAddress(row, exchanges));
    const open = claims.filter((_, index) => outcomes[index] === null);
    const asked = new Map(await askFactories({ chain, upstreams, exchanges }, open, signal));
    const decided = claims.flatMap((claim, index) => {
      const outcome = outcomes[index] ?? asked.get(claim) ?? null;
      return outcome === null || outcome instanceof ChainsteadError ? [] : [[claim, outcome] as const];
    });
    await storeOutcomes(database, chain, decided);
    const proofOf = { disproved: 'none', unproven: 'undecided' };
    for (const [, outcome] of decided) {
      const proof = outcome.status === 'proven' ? outcome.by : proofOf[outcome.status];
      poolProofs.inc({ chain: chain.key, proof });
    }
    for (const [claim, reason] of asked)
      if (reason instanceof ChainsteadError)
        await failDue(database, DUE_POOLS, claim, { error: reason, retrySeconds: retrySeconds(claim) });
  }

  async function askFactories(
    context: Omit<ProofContext, 'block'>,
    open: readonly Claim<UnprovenPool>[],
    signal: AbortSignal,
  ): Promise<readonly (readonly [Claim<UnprovenPool>, PoolOutcome | ChainsteadError])[]> {
    if (open.length === 0) return [];
    if (context.exchanges.all.length === 0)
      return open.map((claim) => [claim, { status: 'disproved', block: null }]);
    // The newest indexed block: a reorg of it makes these pools due again.
    const block = (await readChainState(database, context.chain.id))?.checkpoint ?? null;
    if (block === null) return open.map((claim) => [claim, new NoBlockYetError(context.chain.key)]);
    const seen = open.map(({ row: { pool, vault, token0, token1 } }) => {
      const tokens = token0 === null || token1 === null ? null : ([token0, token1] as const);
      return { pool, emitter: vault ?? parseAddress(pool), tokens };
    });
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(BATCH_MS_MAX)]);
    const verdicts = await provePools(seen, { ...context, block }, inTime);
    return open.map((claim, index) => [claim, outcomeOfVerdict(verdicts[index], block.number)]);
  }

  for (const served of options.chains)
    dueWork.add<UnprovenPool>({
      name: POOL_WORK,
      chain: served.chain,
      table: DUE_POOLS,
      returning: UNPROVEN_POOL_COLUMNS,
      concurrency: CONCURRENCY,
      batch: BATCH,
      sweepEveryMs: SWEEP_EVERY_MS,
      perform: (claims, signal) => prove(served, claims, signal),
      retrySeconds,
    });
}

function retrySeconds({ attempts }: { readonly attempts: number }): number {
  return backoffSeconds(attempts, RETRY_SECONDS);
}

function outcomeOfAddress({ pool, token0, token1 }: UnprovenPool, exchanges: ChainExchanges): PoolOutcome | null {
  if (!isAddress(pool) || token0 === null || token1 === null) return null;
  const created = recomputePool(parseAddress(pool), [token0, token1], exchanges);
  return created === null ? null : { status: 'proven', pool: created, by: 'address', block: null };
}

function outcomeOfVerdict(verdict: PoolVerdict | undefined, block: number): PoolOutcome | ChainsteadError {
  switch (verdict?.verdict) {
    case 'proven':
      return { status: 'proven', pool: verdict.proven, by: 'factory', block };
    case 'disproved':
      return { status: 'disproved', block };
    case 'unread':
      return verdict.reason;
    default:
      return { status: 'unproven' };
  }
}

class NoBlockYetError extends defineError('NO_BLOCK_YET', (chain: string) => ({
  message: `No block of ${chain} is indexed yet`,
  facts: { chain },
  remedy: 'Wait until the chain follows its head',
  retryable: true,
})) {}

export async function countDuePools(
  database: Pick<Database, 'query'>,
  chainId: ChainId,
  max: number,
): Promise<number> {
  const [row] = await database.query<{ due: number }>(
    sql`SELECT count(*)::integer AS due FROM (
       SELECT FROM ${rawSql(DUE_POOLS.name)} WHERE chain_id = ${chainId} AND ${IS_OPEN} LIMIT ${max}) AS pool`,
  );
  return row?.due ?? 0;
}

const swap = columnsAs(swaps, 'swap');
const creation = columnsAs(poolCreations, 'creation');
const KEY = ['poolKey', 'chainId', 'pool'] as const;

export const poolsOfSwaps: Projection = {
  name: 'pools-of-swaps',
  version: 1,
  tables: [],
  added: ({ rows }) => [
    // Any row's guess will do: the proof decides.
    sql`INSERT INTO pools (${columnList(pools, [...KEY, 'vault', 'token0', 'token1'])})
     SELECT DISTINCT ON (1, 2, 3) ${columnList(swaps, KEY, 'swap')}, ${swap.vault}, ${swap.token0}, ${swap.token1} FROM ${rows} AS swap
     ORDER BY 1, 2, 3, ${swap.token0} IS NULL OR ${swap.token1} IS NULL ON CONFLICT DO NOTHING`,
  ],
  removed: () => [],
  rolledBack: makeUnproven,
  // A pool stays proven without its swaps.
  dropped: () => [],
};

const ADDRESS_BYTES = rawSql('20');

export const poolsOfCreations: Projection = {
  name: 'pools-of-creations',
  version: 1,
  tables: [],
  added: ({ rows }) => [
    // The manager that announces an id holds the pool, and emits its swaps.
    sql`INSERT INTO pools AS stored (${columnList(pools, [...KEY, 'vault'])})
     SELECT DISTINCT ON (1, 2, 3) ${columnList(poolCreations, KEY, 'creation')}, CASE WHEN length(${creation.pool}) > ${ADDRESS_BYTES} THEN ${creation.factory} END
     FROM ${rows} AS creation ORDER BY 1, 2, 3, ${creation.blockNumber}, ${creation.transactionIndex}, ${creation.logIndex}
     ON CONFLICT (${columnList(pools, KEY)}) DO UPDATE SET status = ${rawSql("'unproven'")}, due_at = now() WHERE stored.status <> 'proven'`,
  ],
  removed: () => [],
  rolledBack: makeUnproven,
};

/** A proof at a replaced block is none. Trades stay until a worker has decided again. */
function makeUnproven(chainId: number, ancestor: number): readonly Sql[] {
  return [
    sql`UPDATE pools SET status = ${rawSql("'unproven'")}, proof = NULL, proof_block = NULL, due_at = now()
     WHERE chain_id = ${chainId} AND proof_block > ${ancestor}`,
    // A worker may later store the outcome of a replaced block: the pool stays due.
    sql`UPDATE pools SET due_at = now()
     WHERE chain_id = ${chainId} AND coalesce(lease_until, due_at) IS NOT NULL AND lease_until IS NOT NULL`,
  ];
}
