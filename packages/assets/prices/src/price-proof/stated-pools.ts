import { type Address, type Fraction, type Hex, isAddress, parseAddress } from '@chainstead/core';
import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import type { PoolHistory } from '../token-price/states/pool-history.ts';
import type { StateSince } from '../token-price/states/side-depths.ts';
import { PriceProofError } from './proof-error.ts';
import { readNumber, readState, readWord } from './stated-states.ts';

type Candidate = PriceExplanation['candidates'][number];

export interface HistoryContext {
  readonly at: string;
  readonly forms: readonly Address[];
  readonly time: number;
  /** US dollars per token, of those that pools are priced with. */
  readonly anchors: ReadonlyMap<Address, Fraction>;
  readonly known: 'an anchor' | 'a hop';
}

/** @throws PriceProofError */
export function readHistory(candidate: Candidate, context: HistoryContext): PoolHistory {
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
export function readDecimals({ candidates, hops }: PriceExplanation): ReadonlyMap<Address, number> {
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
export function readAddress(text: string, at: string): Address {
  if (!isAddress(text) || text !== text.toLowerCase())
    throw new PriceProofError(at, `has ${text.slice(0, 80)}, which is not an address in lower case`);
  return parseAddress(text);
}
