import { type BlockRange, ChainsteadError, type Log } from '@chainstead/core';
import type { LogsQuery, UpstreamPool } from '@chainstead/rpc';
import { idInVault } from '../events/pool-vaults.ts';
import type { ChainExchange } from '../exchanges/exchanges-of-chain.ts';
import type { CreationSearch, SearchedPool } from '../exchanges/pool-proof.ts';
import { decodePoolCreation } from '../exchanges/prove-pool.ts';
import type { PoolVerdict, ProofContext, SeenPool } from './pool-verdict.ts';

/** Calls of eth_getLogs for the pools of one factory. */
const CALLS_MAX = 200;
/** Milliseconds. Nodes that cap ranges refuse the first calls. */
const SEARCH_MS = 20_000;

/** A pool without a verdict, and its place among those that were seen. */
interface Undecided extends SearchedPool {
  readonly place: number;
  readonly exchange: ChainExchange;
}

/**
 * Looks for the creation events of undecided pools: one search per factory, from the proof's block backward.
 * @returns proofs by place; pools without one stay undecided
 * @throws RequestAbortedError if the signal ends it
 */
export async function searchCreations(
  seen: readonly SeenPool[],
  verdicts: readonly PoolVerdict[],
  context: ProofContext,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, PoolVerdict>> {
  const undecided = verdicts.flatMap((verdict, place): Undecided[] => {
    const pool = seen[place]?.pool;
    if (verdict.verdict !== 'undecided' || pool === undefined) return [];
    return [{ place, pool, tokens: verdict.tokens, exchange: verdict.exchange }];
  });
  const found = new Map<number, PoolVerdict>();
  for (const [exchange, pools] of Map.groupBy(undecided, (one) => one.exchange)) {
    const { proof } = exchange.exchange.family;
    const search = proof.by === 'address' ? null : proof.search;
    if (search === null) continue;
    for (const log of await findLogs(search, exchange, pools, context, signal)) {
      const created = decodePoolCreation(log, context.exchanges);
      const one = pools.find(({ pool }) => pool === created?.pool);
      if (created === null || one === undefined || !search.confirms(idInVault(created.pool), created)) continue;
      found.set(one.place, { verdict: 'proven', proven: created });
    }
  }
  return found;
}

/** Logs of the search; none if nodes can't return them in time. */
async function findLogs(
  search: CreationSearch,
  { deployment }: ChainExchange,
  pools: readonly SearchedPool[],
  { upstreams, block, chain }: ProofContext,
  signal: AbortSignal,
): Promise<readonly Log[]> {
  const query = {
    topics: [search.event.topic],
    indexed: search.topics(pools.map((one) => ({ ...one, pool: idInVault(one.pool) }))),
    addresses: [deployment.factory],
  };
  const first = deployment.firstBlock ?? chain.firstBlock;
  const range = affordable(upstreams, query, { from: first, to: block.number });
  const late = AbortSignal.timeout(SEARCH_MS);
  try {
    const { logs } = await upstreams.getLogs({ ...query, range }, { signal: AbortSignal.any([signal, late]) });
    return logs;
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    return [];
  }
}

/** The newest blocks of the range that take few enough calls. */
function affordable(upstreams: UpstreamPool, query: Omit<LogsQuery, 'range'>, range: BlockRange): BlockRange {
  let { from } = range;
  while (from < range.to && upstreams.estimateLogCalls(query, [{ from, to: range.to }]) > CALLS_MAX)
    from = Math.ceil((from + range.to) / 2);
  return { from, to: range.to };
}
