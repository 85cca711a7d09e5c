/** Computes a price again from its explanation alone, as docs/concepts/price-rules.md describes it, with none of the program's code. */
import type { PriceExplanation } from '../serve/price-explanation.ts';

type Ratio = readonly [bigint, bigint];
type Candidate = PriceExplanation['candidates'][number];

interface Figures {
  readonly time: number;
  readonly price: Ratio;
  readonly anchorDepth: Ratio;
  readonly tokenDepth: Ratio;
}

/** The price as numerator and denominator, the pool that decided and the rule; null: no pool is deep enough. */
export function recomputePrice({ candidates, anchors, hops, rules, time }: PriceExplanation) {
  const usd = new Map(
    anchors.map((one) => [
      one.token_address,
      [BigInt(one.price_numerator), BigInt(one.price_denominator)] as const,
    ]),
  );
  if (hops.length === 0) return decide(candidates, usd, rules, rules.jump_limit, time);
  const direct = hops.map((hop) => {
    const found = decide(hop.candidates, usd, rules, rules.hop_jump_limit, time);
    if (found === null || found.isYoung || isLess(found.depth, millionths(rules.hop_min_usd)))
      throw new RangeError(`${hop.token_address} is no hop`);
    return [hop.token_address, found.price] as const;
  });
  return decide(candidates, new Map(direct), rules, rules.hop_jump_limit, time);
}

const millionths = (value: number): Ratio => [BigInt(Math.round(value * 1e6)), 1_000_000n];

function decide(
  candidates: readonly Candidate[],
  usd: ReadonlyMap<string, Ratio>,
  rules: PriceExplanation['rules'],
  jumpLimit: number,
  time: number,
) {
  const minimum = millionths(rules.min_side_usd);
  const pools = candidates.map((candidate) => {
    const states = figuresOf(candidate, usd);
    const weightOf = (side: 'anchorDepth' | 'tokenDepth') =>
      smaller(
        last(states)[side],
        lowest(states, (one) => one[side], time, rules.window_seconds, rules.hold_seconds),
      );
    const weight = weightOf('anchorDepth');
    const isDeep = !isLess(weight, minimum) && !isLess(weightOf('tokenDepth'), minimum);
    return {
      candidate,
      states,
      weight,
      isDeep,
      isYoung: candidate.created_time !== null && time - candidate.created_time < rules.window_seconds,
    };
  });
  const deep = pools.filter(({ isDeep }) => isDeep);
  const old = deep.filter(({ isYoung }) => !isYoung);
  const byName = (a: (typeof pools)[number], b: (typeof pools)[number]) =>
    a.candidate.pair_address < b.candidate.pair_address ? -1 : 1;
  const counted = (old.length > 0 ? old : deep)
    .toSorted((a, b) => compare(b.weight, a.weight) || byName(a, b))
    .slice(0, rules.pools_max)
    .toSorted((a, b) => compare(last(a.states).price, last(b.states).price) || byName(a, b));
  const depth = counted.reduce<Ratio>((sum, { weight }) => plus(sum, weight), [0n, 1n]);
  const half = times(depth, [1n, 2n]);
  let sum: Ratio = [0n, 1n];
  for (const { candidate, states, weight } of counted) {
    sum = plus(sum, weight);
    if (isLess(sum, half)) continue;
    const spot = last(states).price;
    const usual = median(states, (one) => one.price, time, rules.window_seconds);
    const limit = millionths(jumpLimit);
    const isNear = (one: Ratio, other: Ratio) =>
      !isLess(times(one, limit), other) && !isLess(times(other, limit), one);
    let held = 0;
    for (const state of states.toReversed()) {
      if (!isNear(state.price, spot)) break;
      held = time - state.time;
    }
    const near = durations(states, time, rules.window_seconds).filter((_, place) => {
      const { price } = states[place] ?? {};
      return price !== undefined && isNear(price, usual);
    });
    const start = states[0]?.time ?? time;
    const isKnown =
      time - start >= rules.window_seconds || near.reduce((all, one) => all + one, 0) >= rules.hold_seconds;
    if (held < rules.hold_seconds && !isKnown) return null;
    const isMedian = !isNear(spot, usual) && held < rules.hold_seconds;
    const rule = isMedian ? 'median' : 'spot';
    const isYoung = time - start < rules.window_seconds;
    return { price: isMedian ? usual : spot, pool: candidate.pair_address, rule, depth, isYoung };
  }
  return null;
}

function figuresOf(candidate: Candidate, usd: ReadonlyMap<string, Ratio>): Figures[] {
  const [side0, side1] = candidate.sides;
  if (side0 === undefined || side1 === undefined) throw new RangeError('A pool has two sides');
  const anchorIs0 = usd.has(side0.token_address);
  const dollars = usd.get(anchorIs0 ? side0.token_address : side1.token_address) ?? [0n, 1n];
  const [unit0, unit1] = [10n ** BigInt(side0.decimals), 10n ** BigInt(side1.decimals)];
  const found: Figures[] = [];
  for (const state of candidate.states) {
    const [virtual0, virtual1, ratio] = reservesOf(state, candidate, [unit0, unit1]);
    const whole =
      ratio === null ? null : times(anchorIs0 ? flip(ratio) : ratio, anchorIs0 ? [unit1, unit0] : [unit0, unit1]);
    const price = whole === null ? found.at(-1)?.price : times(whole, dollars);
    if (price === undefined) continue;
    const depth0 = smaller(virtual0, [BigInt(state.balance0 ?? 0), 1n]);
    const depth1 = smaller(virtual1, [BigInt(state.balance1 ?? 0), 1n]);
    const [anchor, token] = anchorIs0 ? [depth0, depth1] : [depth1, depth0];
    const [anchorUnit, tokenUnit] = anchorIs0 ? [unit0, unit1] : [unit1, unit0];
    found.push({
      time: state.time,
      price,
      anchorDepth: times(times(anchor, dollars), [1n, anchorUnit]),
      tokenDepth: times(times(token, price), [1n, tokenUnit]),
    });
  }
  return found;
}

/** Virtual reserves, and base units of token 1 per base unit of token 0; null: empty. */
function reservesOf(
  state: Candidate['states'][number],
  { is_stable: isStable, bin_step: binStep }: Candidate,
  [unit0, unit1]: Ratio,
): readonly [Ratio, Ratio, Ratio | null] {
  if (state.sqrt_price_x96 !== null && state.liquidity !== null) {
    const [root, liquidity] = [BigInt(state.sqrt_price_x96), BigInt(state.liquidity)];
    if (root === 0n) return [[0n, 1n], [0n, 1n], null];
    return [
      [liquidity << 96n, root],
      [liquidity * root, 1n << 96n],
      [root * root, 1n << 192n],
    ];
  }
  if (state.active_bin !== null) {
    const held = [BigInt(state.balance0 ?? 0), BigInt(state.balance1 ?? 0)] as const;
    return [[held[0], 1n], [held[1], 1n], binPrice(state.active_bin - 8_388_608, binStep ?? 0)];
  }
  const [r0, r1] = [BigInt(state.reserve0 ?? 0), BigInt(state.reserve1 ?? 0)];
  const virtual = [[r0, 1n] as const, [r1, 1n] as const] as const;
  if (r0 === 0n || r1 === 0n) return [...virtual, null];
  if (isStable !== true) return [...virtual, [r1, r0]];
  const [x, y] = [r0 * unit1, r1 * unit0];
  return [...virtual, [(3n * x * x * y + y * y * y) * unit1, (x * x * x + 3n * x * y * y) * unit0]];
}

/** (1 + step)^place in 128 binary digits, as the contract rounds it: powers of the inverse, which is inverted last. */
function binPrice(place: number, binStep: number): Ratio {
  const one = 1n << 128n;
  const most = (1n << 256n) - 1n;
  if (place === 0) return [one, one];
  const powers = [most / (one + (BigInt(binStep) << 128n) / 10_000n)];
  while (powers.length < 20) powers.push(((powers.at(-1) ?? 0n) * (powers.at(-1) ?? 0n)) >> 128n);
  const used = powers.filter((_, bit) => (Math.abs(place) >> bit) % 2 === 1);
  const inverse = used.reduce((product, power) => (product * power) >> 128n, one);
  return [place > 0 ? most / inverse : inverse, one];
}

/** Seconds of the window for which each state stood. */
function durations(states: readonly Figures[], now: number, seconds: number): readonly number[] {
  return states.map(({ time }, place) =>
    Math.max(0, (states[place + 1]?.time ?? now) - Math.max(time, now - seconds)),
  );
}

function median(states: readonly Figures[], of: (one: Figures) => Ratio, now: number, seconds: number): Ratio {
  return lowest(states, of, now, seconds, 0);
}

/** The largest value that stood, or more, for half of the known window and for `least` seconds. */
function lowest(
  states: readonly Figures[],
  of: (one: Figures) => Ratio,
  now: number,
  seconds: number,
  least: number,
): Ratio {
  const held = durations(states, now, seconds);
  const whole = held.reduce((sum, one) => sum + one, 0);
  const wanted = Math.max(whole / 2, Math.min(whole, least));
  if (whole === 0) return of(last(states));
  let above = whole;
  let value = of(last(states));
  const parts = states
    .map((one, place) => ({ value: of(one), held: held[place] ?? 0 }))
    .filter((one) => one.held > 0);
  for (const part of parts.toSorted((a, b) => compare(a.value, b.value))) {
    value = part.value;
    above -= part.held;
    if (above <= wanted) return value;
  }
  return value;
}

function last(states: readonly Figures[]): Figures {
  const state = states.at(-1);
  if (state === undefined) throw new RangeError('A candidate has a state');
  return state;
}

const times = ([a, b]: Ratio, [c, d]: Ratio): Ratio => [a * c, b * d];
const plus = ([a, b]: Ratio, [c, d]: Ratio): Ratio => [a * d + c * b, b * d];
const flip = ([a, b]: Ratio): Ratio => [b, a];
const isLess = ([a, b]: Ratio, [c, d]: Ratio): boolean => a * d < c * b;
const compare = (one: Ratio, other: Ratio): number => (isLess(one, other) ? -1 : isLess(other, one) ? 1 : 0);
const smaller = (one: Ratio, other: Ratio): Ratio => (isLess(other, one) ? other : one);
