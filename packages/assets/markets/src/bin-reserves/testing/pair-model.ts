/**
 * A Liquidity Book pair, by the rules of LBPair.sol alone: bins with a constant sum and one price each, shares of each bin, fees. It emits the logs
 * of its version, and knows the tokens in its bins.
 */
import type { Address } from '@chainstead/core';
import { addressOf, type createSeededRandom } from '@chainstead/testkit';
import type { EventLog } from '../../events/pool-event.ts';
import { exampleLog } from '../../testing/example-log.ts';

type Random = ReturnType<typeof createSeededRandom>;

export interface ModelBin {
  x: bigint;
  y: bigint;
  shares: bigint;
}

export interface PairState {
  active: number;
  readonly bins: Map<number, ModelBin>;
}

export interface PairModel {
  /** The state now, which later actions change. */
  readonly state: () => PairState;
  /** Goes back to an earlier state, which stays as it is. */
  restore(state: PairState): void;
  /** Does a random action, and returns its logs. */
  act(random: Random): readonly EventLog[];
}

/** Bin of price 1. */
export const MIDDLE = 2 ** 23;
const BASIS_POINTS = 10_000n;
const FEE = 30n;
const PROTOCOL_SHARE = 2_500n;
const [SENDER, RECEIVER] = [addressOf(1), addressOf(2)];

/** @param version 2.0 holds fees apart from the bins; 2.1 adds them, without the part of the protocol */
export function createPairModel(pair: Address, version: '2.0' | '2.1', binStep: bigint): PairModel {
  let state: PairState = { active: MIDDLE, bins: new Map() };
  const parties = { sender: SENDER, recipient: RECEIVER, to: RECEIVER, receiver: RECEIVER };
  const log = (declaration: string, args: Readonly<Record<string, unknown>>): EventLog =>
    exampleLog(declaration, { ...parties, ...args }, pair);

  /** Token Y per token X, as a fraction. */
  function priceOf(id: number): readonly [bigint, bigint] {
    const power = BigInt(Math.abs(id - MIDDLE));
    const [up, down] = [(BASIS_POINTS + binStep) ** power, BASIS_POINTS ** power];
    return id >= MIDDLE ? [up, down] : [down, up];
  }

  function binOf(id: number): ModelBin {
    const bin = state.bins.get(id) ?? { x: 0n, y: 0n, shares: 0n };
    state.bins.set(id, bin);
    return bin;
  }

  function changeLogs(name: 'Deposited' | 'Withdrawn', changes: readonly (readonly [number, bigint, bigint])[]) {
    const [verb, one] = name === 'Deposited' ? ['Deposited', 'To'] : ['Withdrawn', 'From'];
    if (version === '2.0')
      return changes.map(([id, amountX, amountY]) =>
        log(
          `${verb}${one}Bin(address indexed sender, address indexed recipient, uint256 indexed id, uint256 amountX, uint256 amountY)`,
          { id, amountX, amountY },
        ),
      );
    const arrays = { ids: changes.map(([id]) => BigInt(id)), amounts: changes.map(([, x, y]) => packed(x, y)) };
    return [
      log(
        `${verb}${one}Bins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts)`,
        arrays,
      ),
    ];
  }

  function deposit(random: Random): readonly EventLog[] {
    const changes = Array.from({ length: random.integer(1, 6) }, () => {
      const id = state.active + random.integer(-12, 12);
      const x = id >= state.active ? BigInt(random.integer(1, 1_000_000)) : 0n;
      const y = id <= state.active ? BigInt(random.integer(1, 1_000_000)) : 0n;
      const bin = binOf(id);
      const [numerator, denominator] = priceOf(id);
      bin.shares += (x * numerator) / denominator + y + 1n;
      bin.x += x;
      bin.y += y;
      return [id, x, y] as const;
    });
    return changeLogs('Deposited', changes);
  }

  function withdraw(random: Random): readonly EventLog[] {
    const held = [...state.bins].filter(([, { shares }]) => shares > 0n);
    if (held.length === 0) return [];
    const changes = Array.from({ length: random.integer(1, 4) }, () => {
      const [id, bin] = random.pick(held);
      const burnt = random.integer(0, 2) === 0 ? bin.shares : bin.shares / 3n;
      const [x, y] = bin.shares === 0n ? [0n, 0n] : [(bin.x * burnt) / bin.shares, (bin.y * burnt) / bin.shares];
      bin.shares -= burnt;
      bin.x -= x;
      bin.y -= y;
      return [id, x, y] as const;
    });
    return changeLogs('Withdrawn', changes);
  }

  /** The next bin with tokens to take; null: none. */
  function nextBin(isXIn: boolean): number | null {
    const ids = [...state.bins].flatMap(([id, { x, y }]) =>
      (isXIn ? y > 0n && id < state.active : x > 0n && id > state.active) ? [id] : [],
    );
    return ids.length === 0 ? null : isXIn ? Math.max(...ids) : Math.min(...ids);
  }

  function swap(random: Random): readonly EventLog[] {
    const isXIn = random.integer(0, 1) === 1;
    let left = BigInt(random.integer(1, 3_000_000));
    const logs: EventLog[] = [];
    while (left > 0n) {
      const bin = binOf(state.active);
      const reserve = isXIn ? bin.y : bin.x;
      if (reserve > 0n) {
        const { added, out, used, fees, protocolFees } = swapIn(reserve, left, isXIn);
        left -= used;
        bin.x += isXIn ? added : -out;
        bin.y += isXIn ? -out : added;
        logs.push(swapLog(isXIn, { added, out, fees, protocolFees }));
      }
      const next = left > 0n ? nextBin(isXIn) : null;
      if (next === null) break;
      state.active = next;
    }
    return logs;
  }

  function swapIn(reserve: bigint, left: bigint, isXIn: boolean) {
    const [numerator, denominator] = isXIn ? priceOf(state.active) : flipped(priceOf(state.active));
    // The amount that takes all, rounded up, and the fee on top of it.
    const most = (reserve * denominator + numerator - 1n) / numerator;
    const mostFees = (most * FEE + BASIS_POINTS - FEE - 1n) / (BASIS_POINTS - FEE);
    const isDrained = left >= most + mostFees;
    const fees = isDrained ? mostFees : (left * FEE + BASIS_POINTS - 1n) / BASIS_POINTS;
    const used = isDrained ? most + mostFees : left;
    const out = isDrained ? reserve : min(reserve, ((used - fees) * numerator) / denominator);
    const protocolFees = (fees * PROTOCOL_SHARE) / BASIS_POINTS;
    return { out, used, fees, protocolFees, added: used - (version === '2.0' ? fees : protocolFees) };
  }

  function swapLog(isXIn: boolean, amounts: Readonly<Record<'added' | 'out' | 'fees' | 'protocolFees', bigint>>) {
    const { added, out, fees, protocolFees } = amounts;
    const id = state.active;
    if (version === '2.0')
      return log(
        'Swap(address indexed sender, address indexed recipient, uint256 indexed id, bool swapForY, uint256 amountIn, uint256 amountOut, uint256 volatilityAccumulated, uint256 fees)',
        { id, swapForY: isXIn, amountIn: added, amountOut: out, volatilityAccumulated: 0n, fees },
      );
    const inWord = (amount: bigint) => (isXIn ? packed(amount, 0n) : packed(0n, amount));
    return log(
      'Swap(address indexed sender, address indexed to, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24 volatilityAccumulator, bytes32 totalFees, bytes32 protocolFees)',
      {
        ...{ id, amountsIn: inWord(added), amountsOut: isXIn ? packed(0n, out) : packed(out, 0n) },
        ...{ volatilityAccumulator: 0, totalFees: inWord(fees), protocolFees: inWord(protocolFees) },
      },
    );
  }

  function flashLoan(random: Random): readonly EventLog[] {
    if (version === '2.0') return [];
    const fees = [BigInt(random.integer(1, 1_000)), BigInt(random.integer(1, 1_000))] as const;
    const bin = binOf(state.active);
    // An empty bin has no owners: the protocol receives all.
    const [x, y] = fees.map((fee) => (bin.shares === 0n ? fee : (fee * PROTOCOL_SHARE) / BASIS_POINTS));
    const protocol = [x ?? 0n, y ?? 0n] as const;
    bin.x += fees[0] - protocol[0];
    bin.y += fees[1] - protocol[1];
    return [
      log(
        'FlashLoan(address indexed sender, address indexed receiver, uint24 activeId, bytes32 amounts, bytes32 totalFees, bytes32 protocolFees)',
        {
          ...{ activeId: state.active, amounts: packed(5n, 5n) },
          ...{ totalFees: packed(...fees), protocolFees: packed(...protocol) },
        },
      ),
    ];
  }

  return {
    state: () => structuredClone(state),
    restore(earlier) {
      state = structuredClone(earlier);
    },
    act: (random) => random.pick([deposit, deposit, withdraw, swap, swap, swap, flashLoan])(random),
  };
}

/** Both tokens in one word: X in the low half. */
function packed(x: bigint, y: bigint): string {
  return `0x${((y << 128n) + x).toString(16).padStart(64, '0')}`;
}

function flipped([numerator, denominator]: readonly [bigint, bigint]): readonly [bigint, bigint] {
  return [denominator, numerator];
}

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
