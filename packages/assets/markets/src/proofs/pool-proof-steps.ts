import type { Chain } from '@chainstead/chains';
import type { Address, ChainsteadError, Hash, Hex } from '@chainstead/core';
import { addressAt, returnedWord } from '@chainstead/events/abi';
import type { UpstreamPool } from '@chainstead/rpc';
import type { PoolId } from '../events/pool-event.ts';
import { idInVault } from '../events/pool-vaults.ts';
import type { ChainExchange, ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import { NO_FACTS, type ProofByArguments, readHints } from '../exchanges/pool-proof.ts';
import type { ProvenPool } from '../exchanges/prove-pool.ts';
import type { PoolFacts } from '../pools/pool-creation.ts';

export interface ProofCall {
  readonly to: Address;
  readonly data: Hex;
}

type Steps<Result> = Generator<readonly ProofCall[], Result, readonly (Hex | null)[]>;
export type ProofSteps = Steps<PoolVerdict>;
const DISPROVED: PoolVerdict = { verdict: 'disproved' };

export function* proofSteps(seen: SeenPool, exchanges: ChainExchanges): ProofSteps {
  const emitter = exchanges.byFactory.get(seen.emitter);
  if (emitter?.exchange.family.isVault === true) return yield* askManager(seen.pool, emitter);
  if (seen.emitter !== seen.pool) return DISPROVED;
  const factory = yield* findFactory(seen.emitter, exchanges);
  if (factory === null) return DISPROVED;
  const { proof } = factory.exchange.family;
  if (proof.by === 'arguments') return yield* askFactory(seen, factory, proof);
  return yield* askManager(seen.pool, factory);
}

function* askManager(pool: PoolId, manager: ChainExchange): ProofSteps {
  const { proof } = manager.exchange.family;
  const { factory, keyReader } = manager.deployment;
  const id = idInVault(pool);
  if (proof.by === 'address') {
    const [returned = null] = yield [{ to: factory, data: proof.membership.ask(id) }];
    return returned !== null && proof.membership.isMember(returned) ? proven(pool, manager, NO_FACTS) : DISPROVED;
  }
  const reader = proof.by === 'key' && proof.reader === 'factory' ? factory : keyReader;
  if (proof.by !== 'key' || reader === null) return undecided(manager);
  const [returned = null] = yield [{ to: reader, data: proof.keyOf(id) }];
  const facts = returned === null ? null : proof.decode(returned, id);
  return facts === null ? undecided(manager) : proven(pool, manager, facts);
}

function* findFactory(pool: Address, { all, byFactory }: ChainExchanges): Steps<ChainExchange | null> {
  const proofs = all.map(({ exchange: { family } }) => family.proof);
  const getters = new Set(proofs.flatMap((proof) => (proof.by === 'arguments' ? proof.namesFactory : [])));
  for (const data of getters) {
    const [returned = null] = yield [{ to: pool, data }];
    const named = addressAt(returnedWord(returned) ?? undefined);
    if (named === null) continue;
    // One call decides a pool that names another factory. Pools of vaults can't name one.
    const factory = byFactory.get(named);
    return factory === undefined || factory.exchange.family.isVault ? null : factory;
  }
  const asked = all.flatMap((factory) => {
    const { isVault, proof } = factory.exchange.family;
    const membership = isVault || proof.by === 'key' ? null : proof.membership;
    return membership === null ? [] : [{ factory, membership }];
  });
  if (asked.length === 0) return null;
  const returned = yield asked.map(({ factory, membership }) => ({
    to: factory.deployment.factory,
    data: membership.ask(pool),
  }));
  const member = asked.find(({ membership }, index) => {
    const result = returned[index] ?? null;
    return result !== null && membership.isMember(result);
  });
  return member?.factory ?? null;
}

function* askFactory(
  { pool, emitter, tokens }: SeenPool,
  factory: ChainExchange,
  { hints, questions, search }: ProofByArguments,
): ProofSteps {
  const results = yield hints.map(({ data }) => ({ to: emitter, data }));
  const read = readHints((of) => results[hints.findIndex((hint) => hint.of === of)] ?? null);
  const [token0 = null, token1 = null] = tokens ?? [];
  const facts = { ...read, token0: read.token0 ?? token0, token1: read.token1 ?? token1 };
  for (const { ask, word } of questions) {
    const question = ask(facts);
    if (question === null) continue;
    const [returned = null] = yield [{ to: factory.deployment.factory, data: question.data }];
    if (returned !== null && addressAt(returned, word) === pool) return proven(pool, factory, question.facts);
  }
  if (search === null || facts.token0 === null || facts.token1 === null) return DISPROVED;
  return undecided(factory, [facts.token0, facts.token1]);
}

function undecided(exchange: ChainExchange, tokens: readonly [Address, Address] | null = null): PoolVerdict {
  return { verdict: 'undecided', exchange, tokens };
}

function proven(pool: PoolId, exchange: ChainExchange, facts: PoolFacts): PoolVerdict {
  return { verdict: 'proven', proven: { ...facts, ...exchange, pool } };
}

export interface SeenPool {
  readonly pool: PoolId;
  readonly emitter: Address;
  readonly tokens: readonly [Address, Address] | null;
}

export interface ProofContext {
  readonly chain: Chain;
  readonly upstreams: UpstreamPool;
  readonly exchanges: ChainExchanges;
  readonly block: { readonly number: number; readonly hash: Hash };
}

export type PoolVerdict =
  | { readonly verdict: 'proven'; readonly proven: ProvenPool }
  | { readonly verdict: 'disproved' }
  | {
      readonly verdict: 'undecided';
      readonly exchange: ChainExchange;
      readonly tokens: readonly [Address, Address] | null;
    }
  | { readonly verdict: 'unread'; readonly reason: ChainsteadError };
