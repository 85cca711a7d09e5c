import type { Chain } from '@chainstead/chains';
import type { PricingRules } from '@chainstead/chains/pricing-rules';
import {
  type Address,
  cents,
  type Fraction,
  type Hex,
  isAddress,
  isObject,
  parseAddress,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { formsOf } from '@chainstead/markets/requests';
import { hopRules } from '../token-price/decide/decide-price.ts';
import type { AnchorPrice } from '../token-price/place/anchor-prices.ts';
import { countedDepth, hopOf, isNew } from '../token-price/read/read-hop-prices.ts';
import { type HopPrice, otherAnchors, priceFrom, type TokenPrice } from '../token-price/read/token-price.ts';
import { explainPrice, type PriceExplanation } from '../token-price/serve/price-explanation.ts';
import { plainDecimal, readDecimal } from '../token-price/serve/shown-values.ts';
import type { PoolHistory } from '../token-price/states/pool-history.ts';
import type { StateSince } from '../token-price/states/side-depths.ts';
import { PriceProofError, tokensOf } from './proof-error.ts';

/** @returns US dollars per whole token @throws PriceProofError for the first difference */
export function rebuildPrice(explanation: PriceExplanation, token: Address, chain: Chain | null): Fraction {
  const anchors = explanation.anchors.map(readAnchor);
  const rules = readRules(explanation.rules);
  const price = priceOf(explanation, { token, chain, anchors, rules });
  const place = {
    ...{ block: Number(explanation.block), time: explanation.time, anchors, pending: [] },
    ...{ ether: null, runStart: 0, windowStart: -1 },
  };
  // The ether price does not decide, and may have other sources.
  const rebuilt = { ...explainPrice({ price, place, rules }), ether_usd: explanation.ether_usd };
  compare(explanation, rebuilt, 'explanation');
  return price.usd;
}

interface PriceFacts {
  readonly token: Address;
  readonly chain: Chain | null;
  readonly anchors: readonly AnchorPrice[];
  readonly rules: PricingRules;
}

function priceOf(explanation: PriceExplanation, facts: PriceFacts): Exclude<TokenPrice, { of: 'nothing' }> {
  const { candidates, hops, time } = explanation;
  const { token, chain, rules } = facts;
  const prices = new Map(facts.anchors.map((anchor) => [anchor.token, anchor.usd]));
  if (explanation.rule === 'anchor') {
    const usd = prices.get(token);
    if (usd === undefined) throw new PriceProofError('explanation.anchors', `do not contain ${token}`);
    return { of: 'anchor', usd };
  }
  const context = { time, rules, chain, decimals: readDecimals(explanation) };
  const own = { at: 'explanation', token, candidates };
  if (hops.length === 0) return rebuildStep({ ...own, prices, known: 'an anchor' }, context);
  const ofStep = { ...context, rules: hopRules(rules) };
  const rebuilt = hops.map((hop, index): HopPrice => {
    const at = `explanation.hops[${index}]`;
    const step = { at, token: readAddress(hop.token_address, at), candidates: hop.candidates };
    return rebuildHop({ ...step, prices, known: 'an anchor' }, ofStep);
  });
  checkAges(candidates, ofStep);
  const usdOf = new Map(rebuilt.map((hop) => [hop.token, hop.price.usd]));
  return { ...rebuildStep({ ...own, prices: usdOf, known: 'a hop' }, ofStep), hops: rebuilt };
}

function checkAges(candidates: Step['candidates'], { time, rules: { windowSeconds } }: StepContext): void {
  const young = candidates.findIndex(({ states }) => {
    const times = states.map(({ time: since }) => ({ since }));
    return isNew(times, windowSeconds, time);
  });
  if (young < 0) return;
  const problem = `is younger than ${windowSeconds} seconds, which no price through a hop allows`;
  throw new PriceProofError(`explanation.candidates[${young}]`, problem);
}

interface Step {
  readonly at: string;
  readonly token: Address;
  readonly candidates: PriceExplanation['candidates'];
  readonly prices: ReadonlyMap<Address, Fraction>;
  readonly known: HistoryContext['known'];
}

interface StepContext extends Pick<PriceFacts, 'chain' | 'rules'> {
  readonly time: number;
  readonly decimals: ReadonlyMap<Address, number>;
}

type PriceOfPools = Extract<TokenPrice, { of: 'pools' }>;

function rebuildStep({ at, token, candidates, prices, known }: Step, context: StepContext): PriceOfPools {
  const { time, rules, decimals } = context;
  // On an unknown chain, any token may be the wrapped native one.
  const isInAll = candidates.every((pool) => tokensOf(pool).includes(token));
  const forms =
    context.chain !== null ? formsOf(token, context.chain) : isInAll ? [token] : [token, ZERO_ADDRESS];
  const anchors = otherAnchors(prices, forms);
  const histories = candidates.map((candidate, index) =>
    readHistory(candidate, { at: `${at}.candidates[${index}]`, forms, time, anchors, known }),
  );
  const found = priceFrom(histories, { anchors, decimals, rules }, { time });
  if (found.of !== 'pools') throw new PriceProofError(at, 'has no pool that decides a price');
  return found;
}

function rebuildHop(step: Step, context: StepContext): HopPrice {
  const { hopMinDepth, windowSeconds } = context.rules;
  const price = rebuildStep(step, context);
  const hop = hopOf(step.token, price, context.rules, context);
  if (typeof hop !== 'string') return hop;
  if (hop !== 'too-shallow')
    throw new PriceProofError(step.at, `has no pool that counts and is at least ${windowSeconds} seconds old`);
  const depth = cents(countedDepth(price.decision));
  const needed = plainDecimal(hopMinDepth);
  throw new PriceProofError(step.at, `has pools with ${depth} US dollars of anchors, but a hop needs ${needed}`);
}

function readAnchor(anchor: PriceExplanation['anchors'][number], index: number): AnchorPrice {
  const at = `explanation.anchors[${index}]`;
  const token = readAddress(anchor.token_address, at);
  const numerator = readNumber(anchor.price_numerator, `${at}.price_numerator`);
  const denominator = readNumber(anchor.price_denominator, `${at}.price_denominator`);
  if (denominator === 0n || numerator === 0n) throw new PriceProofError(at, 'has a price of zero, or none');
  const usd = { numerator, denominator };
  if (anchor.source !== 'feed') {
    if (anchor.source === 'assumed' && numerator !== denominator)
      throw new PriceProofError(at, 'is assumed to be a dollar, but has another price');
    return { token, usd, source: { of: anchor.source } };
  }
  const { feed, aggregator, round, block, transaction_index: transactionIndex, log_index: logIndex } = anchor;
  if (feed === null || aggregator === null || round === null || block === null)
    throw new PriceProofError(at, 'lacks facts of its feed');
  const log = transactionIndex === null || logIndex === null ? null : { transactionIndex, logIndex };
  const origin = { proxy: readAddress(feed, at), aggregator: readAddress(aggregator, at), round };
  return { token, usd, source: { of: 'feed', ...origin, block: Number(readNumber(block, `${at}.block`)), log } };
}

/** Rules have few digits, so that their numbers are exact. */
function readRules(rules: PriceExplanation['rules']): PricingRules {
  return {
    minSideDepth: readRule(rules.min_side_usd, 'min_side_usd'),
    windowSeconds: rules.window_seconds,
    jumpLimit: readRule(rules.jump_limit, 'jump_limit'),
    holdSeconds: rules.hold_seconds,
    poolsMax: rules.pools_max,
    hopMinDepth: readRule(rules.hop_min_usd, 'hop_min_usd'),
  };
}

function readRule(value: number, member: string): Fraction {
  if (/^\d+(\.\d+)?$/.test(String(value))) return readDecimal(String(value));
  throw new PriceProofError(`explanation.rules.${member}`, `is ${value}, which is not a decimal from 0`);
}

/** @throws PriceProofError for the first difference */
function compare(stated: unknown, found: unknown, at: string): void {
  if (Array.isArray(stated) && Array.isArray(found)) {
    if (stated.length !== found.length)
      throw new PriceProofError(at, `has ${stated.length} items, but ${found.length} follow from the states`);
    for (const [index, item] of stated.entries()) compare(item, found[index], `${at}[${index}]`);
  } else if (isObject(stated) && isObject(found)) {
    for (const name of new Set([...Object.keys(stated), ...Object.keys(found)]))
      compare(stated[name], found[name], `${at}.${name}`);
  } else if (stated !== found)
    throw new PriceProofError(at, `is ${stated}, but ${found} follows from the states, anchors and rules`);
}

type Candidate = PriceExplanation['candidates'][number];

interface HistoryContext {
  readonly at: string;
  readonly forms: readonly Address[];
  readonly time: number;
  /** US dollars per token, of those that pools are priced with. */
  readonly anchors: ReadonlyMap<Address, Fraction>;
  readonly known: 'an anchor' | 'a hop';
}

/** @throws PriceProofError */
function readHistory(candidate: Candidate, context: HistoryContext): PoolHistory {
  const { at, forms, time, anchors, known } = context;
  const [token0, token1] = candidate.sides.map((side) => readAddress(side.token_address, at));
  if (token0 === undefined || token1 === undefined || candidate.sides.length !== 2)
    throw new PriceProofError(`${at}.sides`, 'are not two');
  if (!forms.includes(token0) && !forms.includes(token1))
    throw new PriceProofError(`${at}.sides`, `do not contain the priced token ${forms[0]}`);
  if (!anchors.has(token0) && !anchors.has(token1))
    throw new PriceProofError(`${at}.sides`, `do not contain ${known} with a price`);
  const states = candidate.states.map((stated, index): StateSince => {
    const state = readState(stated, null);
    const path = `${at}.states[${index}]`;
    const balances = [stated.balance0, stated.balance1].map((text) =>
      text === null ? null : readWord(text, path),
    );
    const [balance0 = null, balance1 = null] = balances;
    if (state.of === 'reserves' && (balance0 !== state.reserve0 || balance1 !== state.reserve1))
      throw new PriceProofError(path, 'has balances that differ from its reserves');
    return { block: Number(stated.block), since: stated.time, state, balances: [balance0, balance1] };
  });
  checkOrder(candidate, context, states);
  const changedAt = states.at(-1) ?? { block: 0, since: 0 };
  const first = states[0]?.since ?? time;
  if (candidate.reading_block === null && candidate.created_time !== null && candidate.created_time > first)
    throw new PriceProofError(
      `${at}.created_time`,
      `is ${candidate.created_time}, but the states begin at ${first}`,
    );
  const { pair_address: pool, reading_block: readAt } = candidate;
  if (!/^0x([0-9a-f]{40}|[0-9a-f]{64})$/.test(pool))
    throw new PriceProofError(at, `has ${pool.slice(0, 80)}, which is not a pool`);
  return {
    ...{ pool: pool as Hex, exchange: candidate.exchange_name, factory: token0 },
    ...{ token0, token1, isStable: candidate.is_stable, tickSpacing: candidate.bin_step },
    ...{ states, changedAt, createdAt: candidate.created_time },
    readAt: readAt === null ? null : Number(readNumber(readAt, `${at}.reading_block`)),
    depth: 'known',
  };
}

function checkOrder(
  { states: stated }: Candidate,
  { at, time }: HistoryContext,
  states: readonly StateSince[],
): void {
  if (states.length === 0) throw new PriceProofError(`${at}.states`, 'are none');
  for (const [index, state] of states.entries()) {
    const before = states[index - 1];
    const path = `${at}.states[${index}]`;
    readNumber(stated[index]?.block ?? '', `${path}.block`);
    if (
      state.since > time ||
      (before !== undefined && (state.block <= before.block || state.since < before.since))
    )
      throw new PriceProofError(path, 'is not later than the state before it, or later than the price');
  }
}

/** @throws PriceProofError if pools disagree */
function readDecimals({ candidates, hops }: PriceExplanation): ReadonlyMap<Address, number> {
  const decimals = new Map<Address, number>();
  for (const [step, pools] of [candidates, ...hops.map((hop) => hop.candidates)].entries())
    for (const [index, { sides }] of pools.entries()) {
      const at = `explanation${step === 0 ? '' : `.hops[${step - 1}]`}.candidates[${index}]`;
      for (const { token_address: side, decimals: own } of sides) {
        const token = readAddress(side, at);
        const known = decimals.get(token);
        if (known !== undefined && known !== own)
          throw new PriceProofError(`${at}.sides`, `have ${own} decimals of ${side}, and ${known} elsewhere`);
        decimals.set(token, own);
      }
    }
  return decimals;
}

/** Lower case only. @throws PriceProofError */
function readAddress(text: string, at: string): Address {
  if (!isAddress(text) || text !== text.toLowerCase())
    throw new PriceProofError(at, `has ${text.slice(0, 80)}, which is not an address in lower case`);
  return parseAddress(text);
}

type StatedState = PriceExplanation['candidates'][number]['states'][number];

/** @param tick null: unknown, or none @throws PriceProofError */
export function readState(
  { block, reserve0, reserve1, sqrt_price_x96: root, liquidity, active_bin: activeId }: StatedState,
  tick: number | null,
): StateSince['state'] {
  const at = `the state of block ${block}`;
  if (reserve0 !== null && reserve1 !== null)
    return { of: 'reserves', reserve0: readWord(reserve0, at), reserve1: readWord(reserve1, at) };
  if (activeId !== null) return { of: 'bin', activeId };
  if (root === null || liquidity === null) throw new PriceProofError(at, 'has neither reserves nor a price');
  return { of: 'price', sqrtPriceX96: readWord(root, at), liquidity: readWord(liquidity, at), tick: tick ?? 0 };
}

const DIGITS_MAX = 1_024;
const WORD_DIGITS_MAX = 78;

/** Decimal digits. @throws PriceProofError */
function readWord(text: string, at: string): bigint {
  return readNumber(text, at, WORD_DIGITS_MAX);
}

export function readNumber(text: string, at: string, digitsMax: number = DIGITS_MAX): bigint {
  if (text.length > digitsMax || !/^(0|[1-9]\d*)$/.test(text))
    throw new PriceProofError(at, `has ${text.slice(0, 80)}, which is not a whole number`);
  return BigInt(text);
}
