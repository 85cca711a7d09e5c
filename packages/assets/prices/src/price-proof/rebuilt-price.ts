import type { Chain } from '@chainstead/chains';
import type { PricingRules } from '@chainstead/chains/pricing-rules';
import { type Address, cents, type Fraction, isObject, ZERO_ADDRESS } from '@chainstead/core';
import { formsOf } from '@chainstead/markets/requests';
import { hopRules } from '../token-price/decide/hop-rules.ts';
import type { AnchorPrice } from '../token-price/place/anchor-prices.ts';
import { countedDepth, hopOf, isNew } from '../token-price/read/read-hop-prices.ts';
import { type HopPrice, otherAnchors, priceFrom, type TokenPrice } from '../token-price/read/token-price.ts';
import { explainPrice, type PriceExplanation } from '../token-price/serve/price-explanation.ts';
import { plainDecimal, readDecimal } from '../token-price/serve/shown-values.ts';
import { tokensOf } from './counted-pools.ts';
import { PriceProofError } from './proof-error.ts';
import { type HistoryContext, readAddress, readDecimals, readHistory } from './stated-pools.ts';
import { readNumber } from './stated-states.ts';

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
