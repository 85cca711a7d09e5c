import { ChainsteadError, type Hex, type Log } from '@chainstead/core';
import { type StateAt, stateAt } from '@chainstead/node-reads';
import { idInVault } from '../events/pool-vaults.ts';
import type { ChainExchange } from '../exchanges/exchanges-of-chain.ts';
import type { CreationSearch, SearchedPool } from '../exchanges/pool-proof.ts';
import { decodePoolCreation } from '../exchanges/prove-pool.ts';
import {
  type PoolVerdict,
  type ProofCall,
  type ProofContext,
  type ProofSteps,
  proofSteps,
  type SeenPool,
} from './pool-proof-steps.ts';

const ANSWER_BYTES_MAX = 512;

/** At one block; `unread`: no node could read it. One bad pool spoils no other. */
export async function provePools(
  seen: readonly SeenPool[],
  context: ProofContext,
  signal: AbortSignal,
): Promise<PoolVerdict[]> {
  const { chain, upstreams, exchanges, block } = context;
  const state = stateAt(upstreams, chain, block, { answerBytesMax: ANSWER_BYTES_MAX });
  const proofs = seen.map((pool) => proofSteps(pool, exchanges));
  const verdicts = await takeSteps(proofs, (calls) => callTogether(state, calls, signal));
  const created = await searchCreations(seen, verdicts, context, signal);
  return verdicts.map((verdict, index) => created.get(index) ?? verdict);
}

type CallResult = Hex | null | ChainsteadError;

async function takeSteps(
  proofs: readonly ProofSteps[],
  call: (calls: readonly ProofCall[]) => Promise<readonly CallResult[]>,
): Promise<PoolVerdict[]> {
  const steps = proofs.map((proof) => proof.next());
  for (;;) {
    const calls = steps.map((step) => (step.done === true ? [] : step.value));
    const verdicts = steps.flatMap((step) => (step.done === true ? step.value : []));
    if (verdicts.length === proofs.length) return verdicts;
    const results = (await call(calls.flat())).values();
    for (const [index, proof] of proofs.entries()) {
      if (steps[index]?.done === true) continue;
      const own = (calls[index] ?? []).map(() => results.next().value ?? null);
      const reason = own.find((result) => result instanceof ChainsteadError);
      if (reason !== undefined) steps[index] = proof.return({ verdict: 'unread', reason });
      else steps[index] = proof.next(own.map((result) => (typeof result === 'string' ? result : null)));
    }
  }
}

/** A failure of all calls fails each: proofs end as `unread`. */
async function callTogether(state: StateAt, calls: readonly ProofCall[], signal: AbortSignal) {
  try {
    const answers = await state.fetchTogether(calls, signal);
    return answers.map(({ data, unread }) => unread ?? (data === null ? null : (data.toLowerCase() as Hex)));
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    return calls.map(() => error);
  }
}

const CALLS_MAX = 200;
/** Milliseconds. Nodes that cap ranges refuse the first calls. */
const SEARCH_MS = 20_000;

interface Undecided extends SearchedPool {
  readonly index: number;
  readonly exchange: ChainExchange;
}

async function searchCreations(
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
  while (from < to && upstreams.estimateLogCalls(query, [{ from, to }]) > CALLS_MAX)
    from = Math.ceil((from + to) / 2);
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
