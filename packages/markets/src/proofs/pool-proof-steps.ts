import { addressAt, returnedWord } from '@chainstead/abi';
import type { Address, Hex } from '@chainstead/core';
import type { PoolId } from '../events/pool-event.ts';
import { idInVault } from '../events/pool-vaults.ts';
import type { ChainExchange, ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import {
  type Membership,
  NO_FACTS,
  type PoolProof,
  type ProofByArguments,
  readHints,
} from '../exchanges/pool-proof.ts';
import type { PoolFacts } from '../pools/pool-creation.ts';
import type { PoolVerdict, SeenPool } from './pool-verdict.ts';

/** A call of a contract. */
export interface ProofCall {
  readonly to: Address;
  readonly data: Hex;
}

/** Steps that yield calls and receive their results, in lower case; null: reverted, or returned nothing. Pure. */
type Steps<Result> = Generator<readonly ProofCall[], Result, readonly (Hex | null)[]>;

/** The proof for one pool. */
export type ProofSteps = Steps<PoolVerdict>;

const DISPROVED: PoolVerdict = { verdict: 'disproved' };

/** Asks the exchange that the pool may belong to. The pool's own results only choose the exchange and the question. */
export function* proofSteps(seen: SeenPool, exchanges: ChainExchanges): ProofSteps {
  const emitter = exchanges.byFactory.get(seen.emitter);
  if (emitter?.exchange.family.isVault === true) return yield* askManager(seen.pool, emitter);
  if (seen.emitter !== seen.pool) return DISPROVED;
  const one = yield* findFactory(seen.emitter, exchanges);
  if (one === null) return DISPROVED;
  const { proof } = one.exchange.family;
  if (proof.by === 'arguments') return yield* askFactory(seen, one, proof);
  // Membership is asked again if the pool named this factory itself.
  return yield* askManager(seen.pool, one);
}

/** Asks a vault, or a factory that recognizes pools by address. */
function* askManager(pool: PoolId, one: ChainExchange): ProofSteps {
  const { proof } = one.exchange.family;
  const { factory, keyReader } = one.deployment;
  const id = idInVault(pool);
  if (proof.by === 'address') {
    const [returned = null] = yield [{ to: factory, data: proof.membership.ask(id) }];
    return returned !== null && proof.membership.isMember(returned) ? proven(pool, one, NO_FACTS) : DISPROVED;
  }
  const reader = proof.by === 'key' && proof.reader === 'factory' ? factory : keyReader;
  if (proof.by !== 'key' || reader === null) return undecided(one);
  const [returned = null] = yield [{ to: reader, data: proof.keyOf(id) }];
  const facts = returned === null ? null : proof.decode(returned, id);
  return facts === null ? undecided(one) : proven(pool, one, facts);
}

/** The known factory that the pool names, or that recognizes a pool without such a getter; null: none. */
function* findFactory(pool: Address, { all, byFactory }: ChainExchanges): Steps<ChainExchange | null> {
  const getters = new Set(all.flatMap(({ exchange: { family } }) => factoryGetter(family.proof) ?? []));
  for (const data of getters) {
    const [returned = null] = yield [{ to: pool, data }];
    const named = addressAt(returnedWord(returned) ?? undefined);
    // A pool that names another factory is decided by one call.
    if (named !== null) return knownFactory(byFactory.get(named));
  }
  const asked = all.flatMap((one) => {
    const membership = one.exchange.family.isVault ? null : membershipOf(one.exchange.family.proof);
    return membership === null ? [] : [{ one, membership }];
  });
  if (asked.length === 0) return null;
  const returned = yield asked.map(({ one, membership }) => ({
    to: one.deployment.factory,
    data: membership.ask(pool),
  }));
  const member = asked.find(({ membership }, place) => {
    const result = returned[place] ?? null;
    return result !== null && membership.isMember(result);
  });
  return member?.one ?? null;
}

function* askFactory(
  { pool, emitter, tokens }: SeenPool,
  one: ChainExchange,
  { hints, questions, search }: ProofByArguments,
): ProofSteps {
  const results = yield hints.map(({ data }) => ({ to: emitter, data }));
  const read = readHints((of) => results[hints.findIndex((hint) => hint.of === of)] ?? null);
  const [token0 = null, token1 = null] = tokens ?? [];
  const known = { ...read, token0: read.token0 ?? token0, token1: read.token1 ?? token1 };
  for (const { ask, word } of questions) {
    const question = ask(known);
    if (question === null) continue;
    const [returned = null] = yield [{ to: one.deployment.factory, data: question.data }];
    if (returned !== null && addressAt(returned, word) === pool) return proven(pool, one, question.facts);
  }
  if (search === null || known.token0 === null || known.token1 === null) return DISPROVED;
  return undecided(one, [known.token0, known.token1]);
}

function undecided(exchange: ChainExchange, tokens: readonly [Address, Address] | null = null): PoolVerdict {
  return { verdict: 'undecided', exchange, tokens };
}

function proven(pool: PoolId, one: ChainExchange, facts: PoolFacts): PoolVerdict {
  return { verdict: 'proven', proven: { ...facts, ...one, pool } };
}

/** Pools of vaults have no contract: one that names a vault is none of them. */
function knownFactory(one: ChainExchange | undefined): ChainExchange | null {
  return one === undefined || one.exchange.family.isVault ? null : one;
}

function factoryGetter(proof: PoolProof): Hex | null {
  return proof.by === 'arguments' ? proof.namesFactory : null;
}

function membershipOf(proof: PoolProof): Membership | null {
  return proof.by === 'key' ? null : proof.membership;
}
