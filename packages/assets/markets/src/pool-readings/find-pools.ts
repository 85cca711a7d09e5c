import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, bigIntAt, returnedWord, wordCount } from '@chainstead/events/abi';
import type { StateAt } from '@chainstead/node-reads';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';
import type { ConcentratedState, Reserves } from '../events/pool-event.ts';
import type { ChainExchange, ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import { callData, type FactoryQuestion, type PoolTier } from '../exchanges/pool-proof.ts';
import type { ProofCall, SeenPool } from '../proofs/pool-proof-steps.ts';

interface PoolSearch {
  readonly chain: Chain;
  readonly exchanges: ChainExchanges;
  readonly state: Pick<StateAt, 'fetchTogether'>;
}

export interface FoundPool extends SeenPool {
  readonly pool: Address;
  readonly tokens: readonly [Address, Address];
  readonly family: string;
}

/** @throws ChainsteadError if a node could not return a result */
export async function findPools(
  tokens: readonly Address[],
  search: PoolSearch,
  signal: AbortSignal,
): Promise<readonly FoundPool[]> {
  const { chain, exchanges } = search;
  const forms = await readForms(exchanges, search, signal);
  const anchors = Object.values(anchorsOf(chain)).flat();
  const questions = poolQuestions(forms, tokens, anchors);
  const results = await call(questions, search, signal);
  const pools = new Map<Address, FoundPool>();
  questions.forEach(({ tokens: pair, family, word }, index) => {
    const pool = poolOfResult({ word }, results[index] ?? null);
    if (pool !== null) pools.set(pool, { pool, emitter: pool, tokens: pair, family });
  });
  return [...pools.values()];
}

export interface PoolReading {
  readonly pool: Address;
  readonly state: Reserves | ConcentratedState;
}

/** Without pools that have no price. @throws ChainsteadError if a node could not return a result */
export async function readPoolStates(
  pools: readonly Pick<FoundPool, 'pool' | 'family'>[],
  search: Pick<PoolSearch, 'state'>,
  signal: AbortSignal,
): Promise<readonly PoolReading[]> {
  const read = pools.flatMap(({ pool, family }) => {
    const getters = stateGettersOf(family);
    return getters === null ? [] : [{ pool, getters }];
  });
  const results = (await call(stateCalls(read), search, signal)).values();
  return read.flatMap(({ pool, getters }) => {
    const state = getters.decode(getters.calls.map(() => results.next().value ?? null));
    return state === null ? [] : [{ pool, state }];
  });
}

const FORMS_MAX_AGE_MS = 86_400_000;
const knownForms = new WeakMap<
  ChainExchanges,
  { readonly forms: readonly FactoryForm[]; readonly readAt: number }
>();

async function readForms(exchanges: ChainExchanges, search: Pick<PoolSearch, 'state'>, signal: AbortSignal) {
  const known = knownForms.get(exchanges);
  if (known !== undefined && performance.now() - known.readAt < FORMS_MAX_AGE_MS) return known.forms;
  const possible = possibleForms(exchanges).map((form) => ({ form, calls: formCalls(form) }));
  const all = possible.flatMap(({ calls }) => calls);
  const results = (await call(all, search, signal)).values();
  const forms = possible.flatMap(({ form, calls }) => {
    const ofForm = calls.map(() => results.next().value ?? null);
    return usableForm(form, ofForm) ?? [];
  });
  knownForms.set(exchanges, { forms, readAt: performance.now() });
  return forms;
}

async function call(calls: readonly ProofCall[], { state }: Pick<PoolSearch, 'state'>, signal: AbortSignal) {
  if (calls.length === 0) return [];
  const results = await state.fetchTogether(calls, signal);
  return results.map(({ data, unread }) => {
    if (unread !== undefined) throw unread;
    return data === null ? null : (data.toLowerCase() as Hex);
  });
}

export interface FactoryForm {
  readonly exchange: ChainExchange;
  readonly question: FactoryQuestion;
  readonly tiers: readonly PoolTier[];
}

interface PoolQuestion extends ProofCall {
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

interface StateGetters {
  readonly calls: readonly Hex[];
  decode(results: readonly (Hex | null)[]): Reserves | ConcentratedState | null;
}

const RESERVES: StateGetters = {
  calls: [callData('getReserves()')],
  decode([returned]) {
    if (!hasWords(returned, 2)) return null;
    return { of: 'reserves', reserve0: bigIntAt(returned, 0), reserve1: bigIntAt(returned, 1) };
  },
};

/** The root of the price and the tick are the first words, in every fork. */
function concentrated(priceGetter: string): StateGetters {
  return {
    calls: [callData(priceGetter), callData('liquidity()')],
    decode([price, returned]) {
      if (!hasWords(price, 2) || !hasWords(returned, 1)) return null;
      const sqrtPriceX96 = bigIntAt(price, 0);
      if (sqrtPriceX96 === 0n) return null;
      const tick = Number(BigInt.asIntN(24, bigIntAt(price, 1)));
      return { of: 'price', sqrtPriceX96, liquidity: BigInt.asUintN(128, bigIntAt(returned, 0)), tick };
    },
  };
}

const SLOT0 = concentrated('slot0()');
const GLOBAL_STATE = concentrated('globalState()');

/** Without KyberSwap Elastic: it adds fees to liquidity that its events don't report. */
const GETTERS: Readonly<Record<string, StateGetters>> = {
  v2: RESERVES,
  'solidly-1': RESERVES,
  'solidly-2': RESERVES,
  v3: SLOT0,
  'v3-pancake': SLOT0,
  slipstream: SLOT0,
  algebra: GLOBAL_STATE,
  'algebra-integral': GLOBAL_STATE,
};

/** Pool managers and Liquidity Book have no getters: only events show their depth. */
export const PRICED_FAMILIES: readonly string[] = [...Object.keys(GETTERS), 'v4', 'infinity', 'lb-1', 'lb-2'];

export function stateGettersOf(family: string): StateGetters | null {
  return GETTERS[family] ?? null;
}

export function stateCalls(pools: readonly { readonly pool: Address; readonly getters: StateGetters }[]) {
  return pools.flatMap(({ pool, getters }) => getters.calls.map((data) => ({ to: pool, data })));
}

function hasWords(returned: Hex | null | undefined, count: number): returned is Hex {
  if (returned === null || returned === undefined) return false;
  return (wordCount(returned) ?? 0) >= count;
}
