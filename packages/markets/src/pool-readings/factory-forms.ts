import { addressAt, returnedWord } from '@chainstead/abi';
import { type Address, type Hex, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import type { ChainExchange, ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import type { FactoryQuestion, PoolTier } from '../exchanges/pool-proof.ts';
import type { ProofCall } from '../proofs/pool-proof-steps.ts';
import { stateGettersOf } from './state-getters.ts';

/** A getter of a factory that returns pools of two tokens, and the kinds of pools that the factory has. */
export interface FactoryForm {
  readonly exchange: ChainExchange;
  readonly question: FactoryQuestion;
  readonly tiers: readonly PoolTier[];
}

/** A call of a factory for the pool of two tokens. */
export interface PoolQuestion extends ProofCall {
  readonly tokens: readonly [Address, Address];
  readonly family: string;
  /** Word of the result with the pool's address. */
  readonly word: number;
}

/** Every getter of the priced exchanges of a chain, with every kind of pools. A factory may lack the getter. */
export function possibleForms({ all }: Pick<ChainExchanges, 'all'>): readonly FactoryForm[] {
  return all.flatMap((exchange) => {
    const { name, proof } = exchange.exchange.family;
    if (stateGettersOf(name) === null || proof.by !== 'arguments') return [];
    return proof.questions.map((question) => ({ exchange, question, tiers: question.tiers.all }));
  });
}

/** Calls that show whether a factory has a getter, and which kinds of pools: one for the getter, and one for each kind. */
export function formCalls({ exchange, question, tiers }: FactoryForm): readonly ProofCall[] {
  const to = exchange.deployment.factory;
  const { enabled } = question.tiers;
  // Two tokens without a pool: a factory without this getter reverts.
  const probe = question.ask({ ...NO_HINTS, ...tiers[0], token0: PROBES[0], token1: PROBES[1] });
  if (probe === null) return [];
  return [{ to, data: probe.data }, ...(enabled === null ? [] : tiers.map((tier) => ({ to, data: enabled(tier) })))];
}

/** The form with the kinds that the factory has; null: it lacks the getter. @param results of its calls */
export function usableForm(form: FactoryForm, results: readonly (Hex | null)[]): FactoryForm | null {
  const [probed = null, ...enabled] = results;
  if (probed === null || addressAt(probed, form.question.word) === null) return null;
  const tiers = form.tiers.filter((_, place) => {
    const word = returnedWord(enabled[place]);
    // A factory without such a getter may have every kind.
    return word === null || BigInt(word) !== 0n;
  });
  return { ...form, tiers };
}

/** The calls for all pools of some tokens against anchors. */
export function poolQuestions(
  forms: readonly FactoryForm[],
  tokens: readonly Address[],
  anchors: readonly Address[],
): readonly PoolQuestion[] {
  const pairs = new Map<string, readonly [Address, Address]>();
  for (const token of tokens)
    for (const anchor of anchors) {
      // Pools of a vault alone hold the native token.
      if (token === anchor || token === ZERO_ADDRESS || anchor === ZERO_ADDRESS) continue;
      const pair = token < anchor ? ([token, anchor] as const) : ([anchor, token] as const);
      pairs.set(pair.join(' '), pair);
    }
  return [...pairs.values()].flatMap(([token0, token1]) =>
    forms.flatMap(({ exchange, question, tiers }) =>
      tiers.flatMap((tier): PoolQuestion[] => {
        const asked = question.ask({ ...NO_HINTS, ...tier, token0, token1 });
        if (asked === null) return [];
        const to = exchange.deployment.factory;
        const family = exchange.exchange.family.name;
        return [{ to, data: asked.data, tokens: [token0, token1], family, word: question.word }];
      }),
    ),
  );
}

/** The pool in a result; null: none. */
export function poolOfResult({ word }: Pick<PoolQuestion, 'word'>, returned: Hex | null): Address | null {
  const pool = returned === null ? null : addressAt(returned, word);
  return pool === ZERO_ADDRESS ? null : pool;
}

const NO_HINTS = { token0: null, token1: null, fee: null, tickSpacing: null, isStable: null };

const PROBES = [parseAddress(`0x${'1'.padStart(40, '0')}`), parseAddress(`0x${'2'.padStart(40, '0')}`)] as const;
