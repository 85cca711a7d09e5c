import type { PricingRules } from '@chainstead/chains';
import { type Address, type Fraction, type Hex, isAddress, parseAddress, wholeFraction } from '@chainstead/core';
import type { AnchorPrice } from '../token-price/place/anchor-prices.ts';
import { otherAnchors, priceFrom, type TokenPrice } from '../token-price/read/token-price.ts';
import { explainPrice, type PriceExplanation } from '../token-price/serve/price-explanation.ts';
import type { PoolHistory } from '../token-price/states/pool-history.ts';
import type { StateSince } from '../token-price/states/side-depths.ts';
import { PriceProofError } from './proof-error.ts';
import { readNumber, readState } from './stated-states.ts';

/**
 * Decides the price again by the states, anchors and rules of an explanation, and compares everything that follows from them with what the
 * explanation states.
 * @returns US dollars per whole token
 * @throws PriceProofError naming the first member that differs
 */
export function rebuildPrice(explanation: PriceExplanation, token: Address, forms: readonly Address[]): Fraction {
  const anchors = explanation.anchors.map(readAnchor);
  if (explanation.hops.length > 0)
    throw new PriceProofError('explanation.hops', 'are not empty: a price through another token has no proof');
  const rules = readRules(explanation.rules);
  const price = priceOf(explanation, { token, forms, anchors, rules });
  const place = {
    ...{ block: Number(explanation.block), time: explanation.time, anchors, pending: [] },
    ...{ ether: null, runStart: 0, windowStart: -1 },
  };
  // The ether price does not decide, and its sources may be others.
  const rebuilt = { ...explainPrice({ price, place, rules }), ether_usd: explanation.ether_usd };
  compare(explanation, rebuilt, 'explanation');
  return price.usd;
}

function priceOf(
  { rule, candidates, time }: PriceExplanation,
  { token, forms, anchors, rules }: PriceFacts,
): Exclude<TokenPrice, { of: 'nothing' }> {
  const prices = new Map(anchors.map((anchor) => [anchor.token, anchor.usd]));
  if (rule === 'anchor') {
    const usd = prices.get(token);
    if (usd === undefined) throw new PriceProofError('explanation.anchors', `do not contain ${token}`);
    return { of: 'anchor', usd };
  }
  const decimals = new Map<Address, number>();
  const histories = candidates.map((candidate, place) => {
    const at = `explanation.candidates[${place}]`;
    candidate.sides.forEach(({ token_address: side, decimals: own }) => {
      const known = decimals.get(readAddress(side, at));
      if (known !== undefined && known !== own)
        throw new PriceProofError(`${at}.sides`, `have ${own} decimals of ${side}, and ${known} elsewhere`);
      decimals.set(readAddress(side, at), own);
    });
    return readHistory(candidate, { at, forms, time, rules });
  });
  const found = priceFrom(histories, { anchors: otherAnchors(prices, forms), decimals, rules }, { time });
  if (found.of === 'nothing') throw new PriceProofError('explanation', 'has no pool that decides a price');
  return found;
}

interface PriceFacts {
  readonly token: Address;
  /** Addresses that stand for the token in pools. */
  readonly forms: readonly Address[];
  readonly anchors: readonly AnchorPrice[];
  readonly rules: PricingRules;
}

interface HistoryContext {
  readonly at: string;
  readonly forms: readonly Address[];
  readonly time: number;
  readonly rules: PricingRules;
}

function readHistory(candidate: PriceExplanation['candidates'][number], context: HistoryContext): PoolHistory {
  const { at, forms, time, rules } = context;
  const [token0, token1] = candidate.sides.map((side) => readAddress(side.token_address, at));
  if (token0 === undefined || token1 === undefined || candidate.sides.length !== 2)
    throw new PriceProofError(`${at}.sides`, 'are not two');
  if (!forms.includes(token0) && !forms.includes(token1))
    throw new PriceProofError(`${at}.sides`, `do not contain the priced token ${forms[0]}`);
  const states = candidate.states.map((stated, place): StateSince => {
    const state = readState(stated, null);
    const path = `${at}.states[${place}]`;
    const balances = [stated.balance0, stated.balance1].map((one) => (one === null ? null : readNumber(one, path)));
    const [balance0 = null, balance1 = null] = balances;
    if (state.of === 'reserves' && (balance0 !== state.reserve0 || balance1 !== state.reserve1))
      throw new PriceProofError(path, 'has balances that differ from its reserves');
    return { block: Number(stated.block), since: stated.time, state, balances: [balance0, balance1] };
  });
  checkOrder(candidate, context, states);
  const changedAt = states.at(-1) ?? { block: 0, since: 0 };
  const first = states[0]?.since ?? time;
  // A history that begins within the window begins with the first state of the pool.
  const isWhole = first > time - rules.windowSeconds;
  if (candidate.first_state_time > first || (isWhole && candidate.first_state_time !== first))
    throw new PriceProofError(
      `${at}.first_state_time`,
      `is ${candidate.first_state_time}, but the states begin at ${first}`,
    );
  return {
    ...{ pool: readPool(candidate.pair_address, at), exchange: candidate.exchange_name, factory: token0 },
    ...{
      token0,
      token1,
      isStable: candidate.is_stable,
      tickSpacing: candidate.bin_step,
      states,
      changedAt,
      createdAt: candidate.first_state_time,
    },
    readAt:
      candidate.reading_block === null ? null : Number(readNumber(candidate.reading_block, `${at}.reading_block`)),
    depth: 'known',
  };
}

function checkOrder(
  { states: stated }: PriceExplanation['candidates'][number],
  { at, time }: HistoryContext,
  states: readonly StateSince[],
): void {
  if (states.length === 0) throw new PriceProofError(`${at}.states`, 'are none');
  states.forEach((state, place) => {
    const before = states[place - 1];
    readNumber(stated[place]?.block ?? '', `${at}.states[${place}].block`);
    if (state.since > time || (before !== undefined && (state.block <= before.block || state.since < before.since)))
      throw new PriceProofError(
        `${at}.states[${place}]`,
        'is not later than the state before it, or later than the price',
      );
  });
}

function readAnchor(anchor: PriceExplanation['anchors'][number], place: number): AnchorPrice {
  const at = `explanation.anchors[${place}]`;
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

function readAddress(text: string, at: string): Address {
  if (!isAddress(text) || text !== text.toLowerCase())
    throw new PriceProofError(at, `has ${text.slice(0, 80)}, which is not an address in lower case`);
  return parseAddress(text);
}

/** An address, or the id of a pool in a vault. */
function readPool(text: string, at: string): Hex {
  if (!/^0x([0-9a-f]{40}|[0-9a-f]{64})$/.test(text))
    throw new PriceProofError(at, `has ${text.slice(0, 80)}, which is not a pool`);
  return text as Hex;
}

/** Rules are settings with few digits, so their numbers are exact. */
function readRules(rules: PriceExplanation['rules']): PricingRules {
  return {
    minSideDepth: readDecimal(rules.min_side_usd, 'min_side_usd'),
    windowSeconds: rules.window_seconds,
    jumpLimit: readDecimal(rules.jump_limit, 'jump_limit'),
    holdSeconds: rules.hold_seconds,
    poolsMax: rules.pools_max,
    hopMinDepth: readDecimal(rules.hop_min_usd, 'hop_min_usd'),
  };
}

function readDecimal(value: number, member: string): Fraction {
  const [whole = '', digits = ''] = String(value).split('.');
  if (!/^\d+$/.test(`${whole}${digits}`))
    throw new PriceProofError(`explanation.rules.${member}`, `is ${value}, which is not a decimal from 0`);
  return digits === ''
    ? wholeFraction(BigInt(whole))
    : { numerator: BigInt(`${whole}${digits}`), denominator: 10n ** BigInt(digits.length) };
}

/** @throws PriceProofError for the first member that differs */
function compare(stated: unknown, found: unknown, at: string): void {
  if (Array.isArray(stated) && Array.isArray(found)) {
    if (stated.length !== found.length)
      throw new PriceProofError(at, `has ${stated.length} items, but ${found.length} follow from the states`);
    stated.forEach((item, place) => {
      compare(item, found[place], `${at}[${place}]`);
    });
  } else if (isObject(stated) && isObject(found)) {
    for (const name of new Set([...Object.keys(stated), ...Object.keys(found)]))
      compare(stated[name], found[name], `${at}.${name}`);
  } else if (stated !== found)
    throw new PriceProofError(at, `is ${stated}, but ${found} follows from the states, anchors and rules`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
