import type { Chain } from '@chainstead/chains';
import {
  ChainsteadError,
  counter,
  defineError,
  defineMetrics,
  isAddress,
  parseAddress,
  type Registry,
} from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { backoffSeconds, type Claim, failDue } from '@chainstead/jobs';
import type { DueWork } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import { readChainState } from '@chainstead/sync/checkpoint';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import type { ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import { recomputePool } from '../exchanges/prove-pool.ts';
import {
  DUE_POOLS,
  POOL_WORK,
  type PoolOutcome,
  readCreations,
  storeOutcomes,
  UNPROVEN_POOL_COLUMNS,
  type UnprovenPool,
} from './pool-rows.ts';
import type { PoolVerdict, ProofContext } from './pool-verdict.ts';
import { provePools } from './prove-pools.ts';

export interface PoolProofOptions {
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
