import { ChainsteadError, type Log } from '@chainstead/core';
import { idInVault } from '../events/pool-vaults.ts';
import type { ChainExchange } from '../exchanges/exchanges-of-chain.ts';
import type { CreationSearch, SearchedPool } from '../exchanges/pool-proof.ts';
import { decodePoolCreation } from '../exchanges/prove-pool.ts';
import type { PoolVerdict, ProofContext, SeenPool } from './pool-verdict.ts';

/** Calls of eth_getLogs for the pools of one factory. */
const CALLS_MAX = 200;
/** Milliseconds. Nodes that cap ranges refuse the first calls. */
const SEARCH_MS = 20_000;

interface Undecided extends SearchedPool {
  readonly index: number;
  readonly exchange: ChainExchange;
}

/** One search per factory, from the proof's block backward. Keys are indexes in `seen`. */
export async function searchCreations(
  seen: readonly SeenPool[],
  verdicts: readonly PoolVerdict[],
  context: ProofContext,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, PoolVerdict>> {
  const undecided = verdicts.flatMap((verdict, index): Undecided[] => {
    const pool = seen[index]?.pool;
    if (verdict.verdict !== 'undecided' || pool === undefined) return [];
    return [{ index, pool, tokens: verdict.tokens, exchange: verdict.exchange }];
  });
  const proven = new Map<number, PoolVerdict>();
  for (const [exchange, pools] of Map.groupBy(undecided, (pool) => pool.exchange)) {
    const { proof } = exchange.exchange.family;
    const search = proof.by === 'address' ? null : proof.search;
    if (search === null) continue;
    for (const log of await findLogs(search, exchange, pools, context, signal)) {
      const created = decodePoolCreation(log, context.exchanges);
      const index = pools.find(({ pool }) => pool === created?.pool)?.index;
      if (created === null || index === undefined || !search.confirms(idInVault(created.pool), created)) continue;
      proven.set(index, { verdict: 'proven', proven: created });
    }
  }
  return proven;
}

async function findLogs(
  search: CreationSearch,
  { deployment }: ChainExchange,
  pools: readonly SearchedPool[],
  { upstreams, block, chain }: ProofContext,
  signal: AbortSignal,
): Promise<readonly Log[]> {
  const query = {
    topics: [search.event.topic],
    indexed: search.topics(pools.map(({ pool, tokens }) => ({ pool: idInVault(pool), tokens }))),
    addresses: [deployment.factory],
  };
  const to = block.number;
  let from = deployment.firstBlock ?? chain.firstBlock;
  while (from < to && upstreams.estimateLogCalls(query, [{ from, to }]) > CALLS_MAX) from = Math.ceil((from + to) / 2);
  const late = AbortSignal.timeout(SEARCH_MS);
  try {
    const range = { from, to };
    const { logs } = await upstreams.getLogs({ ...query, range }, { signal: AbortSignal.any([signal, late]) });
    return logs;
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    return [];
  }
}
