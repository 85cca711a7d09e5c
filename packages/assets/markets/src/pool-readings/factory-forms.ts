import { type Address, type Hex, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, returnedWord } from '@chainstead/events/abi';
import type { ChainExchange, ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import type { FactoryQuestion, PoolTier } from '../exchanges/pool-proof.ts';
import type { ProofCall } from '../proofs/pool-proof-steps.ts';
import { stateGettersOf } from './state-getters.ts';

export interface FactoryForm {
  readonly exchange: ChainExchange;
  readonly question: FactoryQuestion;
  readonly tiers: readonly PoolTier[];
}

export interface PoolQuestion extends ProofCall {
  readonly tokens: readonly [Address, Address];
  readonly family: string;
  readonly word: number;
}

export function possibleForms({ all }: Pick<ChainExchanges, 'all'>): readonly FactoryForm[] {
  return all.flatMap((exchange) => {
    const { name, proof } = exchange.exchange.family;
    if (stateGettersOf(name) === null || proof.by !== 'arguments') return [];
    return proof.questions.map((question) => ({ exchange, question, tiers: question.tiers.all }));
  });
}

export function formCalls({ exchange, question, tiers }: FactoryForm): readonly ProofCall[] {
  const to = exchange.deployment.factory;
  const { enabled } = question.tiers;
  const probe = question.ask({ ...NO_HINTS, ...tiers[0], token0: PROBES[0], token1: PROBES[1] });
  if (probe === null) return [];
  return [
    { to, data: probe.data },
    ...(enabled === null ? [] : tiers.map((tier) => ({ to, data: enabled(tier) }))),
  ];
}

export function usableForm(form: FactoryForm, results: readonly (Hex | null)[]): FactoryForm | null {
  const [probed = null, ...enabled] = results;
  if (probed === null || addressAt(probed, form.question.word) === null) return null;
  const tiers = form.tiers.filter((_, index) => {
    const word = returnedWord(enabled[index]);
    return word === null || BigInt(word) !== 0n;
  });
  return { ...form, tiers };
}

export function poolQuestions(
  forms: readonly FactoryForm[],
  tokens: readonly Address[],
  anchors: readonly Address[],
): readonly PoolQuestion[] {
  const pairs = new Map<string, readonly [Address, Address]>();
  for (const token of tokens)
    for (const anchor of anchors) {
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

export function poolOfResult({ word }: Pick<PoolQuestion, 'word'>, returned: Hex | null): Address | null {
  const pool = returned === null ? null : addressAt(returned, word);
  return pool === ZERO_ADDRESS ? null : pool;
}

const NO_HINTS = { token0: null, token1: null, fee: null, tickSpacing: null, isStable: null };
const PROBES = [parseAddress(`0x${'1'.padStart(40, '0')}`), parseAddress(`0x${'2'.padStart(40, '0')}`)] as const;
