import { type Fraction, roundedUnits, wholeFraction } from '@chainstead/core';
import { each, fieldsOf, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type JudgedCandidate, newest, type PriceDecision } from '../decide/decide-price.ts';
import type { PricedPool } from '../read/token-price.ts';
import { type StateSince, virtualReserves } from '../states/side-depths.ts';
import { dollars, plain } from './shown-values.ts';

// A verifier computes with numbers of anyone's document: each has a bound.
export const TIME = z.number().min(0).max(8_640_000_000_000);
const STATES_MAX = 100_000;

const { flag, numeral, text } = wire;
const time = wire.wire(TIME);
/** uint8. */
const decimals = wire.wire(z.int().min(0).max(255));
/** Liquidity Book: 24 bits for bins, 16 for steps. */
const bin = wire.wire(
  z
    .int()
    .min(0)
    .lt(2 ** 24),
);
const binStep = wire.wire(
  z
    .int()
    .min(1)
    .max(2 ** 16 - 1),
);
const role = wire.wire(z.enum(['chosen', 'counted', 'too-shallow', 'too-young', 'not-among-deepest']));

interface CandidateSide {
  readonly token: string;
  readonly decimals: number;
  readonly balance: bigint | null;
  /** Null: a Liquidity Book pair. */
  readonly reserve: Fraction | null;
}

const sideView = view(
  { name: 'PriceCandidateSide', description: 'One token of a pool, at the block of the price' },
  (side: CandidateSide) => side,
  {
    token_address: text('Token of the side', ({ token }) => token),
    decimals: decimals('Decimals of the token'),
    balance: numeral.orNull(
      'Base units that the pool holds. Liquidity Book: in bins up to 10 % away from the price. null: unknown, and counted as zero',
    ),
    virtual_reserve: numeral.orNull(
      'Base units of the reserve with the same price and slippage, rounded. Depth is the smaller of both. null: Liquidity Book, where depth is the balance',
      ({ reserve }) => reserve && roundedUnits(reserve, 1n),
    ),
  },
);

const stateFields = fieldsOf<Pick<StateSince, 'state'>>()({
  reserve0: numeral.orNull('Base units of token 0. null: not a pool with reserves', ({ state }) =>
    state.of === 'reserves' ? state.reserve0 : null,
  ),
  reserve1: numeral.orNull('Base units of token 1. null: not a pool with reserves', ({ state }) =>
    state.of === 'reserves' ? state.reserve1 : null,
  ),
  sqrt_price_x96: numeral.orNull(
    'Square root of the price times 2^96. null: not a concentrated pool',
    ({ state }) => (state.of === 'price' ? state.sqrtPriceX96 : null),
  ),
  liquidity: numeral.orNull('Liquidity in range. null: not a concentrated pool', ({ state }) =>
    state.of === 'price' ? state.liquidity : null,
  ),
  active_bin: bin.orNull('Bin of the price. null: not a Liquidity Book pair', ({ state }) =>
    state.of === 'bin' ? state.activeId : null,
  ),
});

export const poolStateView = view(null, (since: Pick<StateSince, 'state'>) => since, stateFields);

const stateSinceView = view(
  { name: 'PoolStateSince', description: 'State of a pool until the next one' },
  (since: StateSince) => since,
  {
    block: numeral('First block of the state'),
    time: time('Time of that block, in seconds since 1970', ({ since }) => since),
    ...stateFields,
    balance0: numeral.orNull(
      'Base units of token 0 that the pool holds, as in sides. null: unknown',
      ({ balances }) => balances[0],
    ),
    balance1: numeral.orNull(
      'Base units of token 1 that the pool holds, as in sides. null: unknown',
      ({ balances }) => balances[1],
    ),
  },
);

interface Considered {
  readonly judged: JudgedCandidate;
  readonly known: PricedPool;
}

export const candidateView = view(
  { name: 'PriceCandidate', description: 'A pool that was considered' },
  ({ judged, known }: Considered) => ({ judged, known, ...known }),
  {
    pair_address: text('Address of the pool', ({ judged }) => judged.pool),
    exchange_name: text('Name of the exchange', ({ history }) => history.exchange),
    role: role('Role of the pool in the decision', ({ judged }) => judged.role),
    price_usd: plain('Price of the token in this pool, by its newest state', ({ candidate }) =>
      newest(candidate.price),
    ),
    weight_usd: dollars(
      'Smaller of the current depth and its median over the window, on the side of the known token. Less if little of the past is known',
      ({ judged }) => judged.weight,
    ),
    is_stable: flag.orNull('Whether it has the curve of stable pairs', ({ history }) => history.isStable),
    bin_step: binStep.orNull(
      'Basis points between the prices of two bins. null: not a Liquidity Book pair',
      ({ history }) => (history.states[0]?.state.of === 'bin' ? history.tickSpacing : null),
    ),
    created_time: time.orNull(
      'Time of the creation, or of the first event on chain, in seconds since 1970. null: unknown, so the pool is not young',
      ({ history }) => history.createdAt,
    ),
    reading_block: numeral.orNull(
      'Block at whose end contract calls read the first state. null: an event reported it',
      ({ history }) => history.readAt,
    ),
    sides: each(sideView, (list) => list.max(2))('Both tokens of the pool', ({ known }) => sidesOf(known)),
    states: each(stateSinceView, (list) => list.max(STATES_MAX))(
      'States of the window, oldest first: the first one is from before the window, if there is one',
      ({ history }) => history.states,
    ),
  },
);

interface Consideration {
  readonly decision: Pick<PriceDecision, 'candidates'>;
  readonly pools: readonly PricedPool[];
}

export function showCandidates(considered: Consideration) {
  return consideredOf(considered).map((candidate) => candidateView.show(candidate));
}

export function consideredOf({ decision, pools }: Consideration): readonly Considered[] {
  const byId = new Map<string, PricedPool>(pools.map((pool) => [pool.history.pool, pool]));
  return decision.candidates.flatMap((judged) => {
    const known = byId.get(judged.pool);
    return known === undefined ? [] : [{ judged, known }];
  });
}

function sidesOf({
  history: { token0, token1, states },
  decimals: ofTokens,
}: PricedPool): readonly CandidateSide[] {
  const last = states.at(-1);
  if (last === undefined) return [];
  const reserves = last.state.of === 'bin' ? null : virtualReserves(last.state);
  return [token0, token1].map((token, side) => ({
    token,
    decimals: ofTokens[side] ?? 0,
    balance: last.balances[side] ?? null,
    reserve: reserves && (reserves[side] ?? wholeFraction(0n)),
  }));
}
