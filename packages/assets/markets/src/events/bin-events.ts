import type { Address, Hash, Hex } from '@chainstead/core';
import { lengthAt, wordCount } from '@chainstead/events/abi';
import { type DefinedEvent, defineEvent } from '@chainstead/events/decoding';
import { type EventLog, type PoolEventDecoder, poolEvent, type SwapEvent } from './pool-event.ts';

/** LBPair.sol 2.0 */
const BIN_SWAP_1 = defineEvent(
  'event Swap(address indexed, address indexed, uint256 indexed id, bool isXIn, uint256 amountIn, uint256 amountOut, uint256, uint256 fees)',
);
/** LBPair.sol 2.1 and 2.2. Words hold the amounts of both tokens. */
const BIN_SWAP_2 = defineEvent(
  'event Swap(address indexed, address indexed, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24, bytes32, bytes32 protocolFees)',
);

/** One log per bin. Amounts include the fee, so that they add up to transfers (dexes.md 2, 3). */
export const binEvents: readonly PoolEventDecoder[] = [
  poolEvent(BIN_SWAP_1, { hasState: true }, ({ id, isXIn, amountIn, amountOut, fees }, pool) => {
    const [paid, received] = [amountIn + fees, -amountOut];
    return fitsUnsigned(id, BIN_BITS)
      ? binSwap(pool, Number(id), isXIn ? [paid, received] : [received, paid])
      : null;
  }),
  poolEvent(BIN_SWAP_2, { hasState: true }, ({ id, amountsIn, amountsOut, protocolFees }, pool) => {
    const [paid, fees, received] = [amountsOf(amountsIn), amountsOf(protocolFees), amountsOf(amountsOut)];
    return binSwap(pool, id, [paid[0] + fees[0] - received[0], paid[1] + fees[1] - received[1]]);
  }),
];

const BIN_BITS = 24;
const LOW_128 = (1n << 128n) - 1n;

type BinAmounts = readonly [amount0: bigint, amount1: bigint];

/** X is in the low half of a word, Y in the high half. */
function amountsOf(word: Hex): BinAmounts {
  const value = BigInt(word);
  return [value & LOW_128, value >> 128n];
}

function fitsUnsigned(value: bigint, bits: number): boolean {
  return BigInt.asUintN(bits, value) === value;
}

function binSwap(pool: Address, activeId: number, [amount0, amount1]: BinAmounts): SwapEvent {
  return { kind: 'swap', pool, amounts: { of: 'sides', amount0, amount1 }, state: { of: 'bin', activeId } };
}

export interface BinChange {
  readonly pool: Address;
  readonly bin: number;
  /** Base units of X and Y into the bin; negative: out of it. */
  readonly amount0: bigint;
  readonly amount1: bigint;
}

type Change = Omit<BinChange, 'pool'>;

interface BinDecoder {
  readonly topic: Hash;
  decode(log: EventLog): readonly Change[];
}

const ONE_BIN = 'address indexed, address indexed, uint256 indexed id, uint256 amount0, uint256 amount1';
const MANY_BINS = 'address indexed, address indexed, uint256[] ids, bytes32[] amounts';

/** LBPair.sol 2.0 to 2.2. Version 2.0 holds fees apart; later ones only those of the protocol. */
const decoders: readonly BinDecoder[] = [
  binEvent(BIN_SWAP_1, ({ id, isXIn, amountIn, amountOut }) =>
    areAmounts(amountIn, amountOut) ? changeOf(id, isXIn ? [amountIn, -amountOut] : [-amountOut, amountIn]) : [],
  ),
  ofOneBin(defineEvent(`event DepositedToBin(${ONE_BIN})`), 1n),
  ofOneBin(defineEvent(`event WithdrawnFromBin(${ONE_BIN})`), -1n),
  binEvent(BIN_SWAP_2, ({ id, amountsIn, amountsOut }) =>
    changeOf(BigInt(id), difference(amountsIn, amountsOut)),
  ),
  // The fees of a flash loan stay in the active bin.
  binEvent(
    defineEvent(
      'event FlashLoan(address indexed, address indexed, uint24 id, bytes32, bytes32 fees, bytes32 protocolFees)',
    ),
    ({ id, fees, protocolFees }) => changeOf(BigInt(id), difference(fees, protocolFees)),
  ),
  ofManyBins(defineEvent(`event DepositedToBins(${MANY_BINS})`), 1n),
  ofManyBins(defineEvent(`event WithdrawnFromBins(${MANY_BINS})`), -1n),
];

const byTopic: ReadonlyMap<string | undefined, BinDecoder> = new Map(
  decoders.map((decoder) => [decoder.topic, decoder]),
);
export const BIN_CHANGE_TOPICS: readonly Hash[] = decoders.map(({ topic }) => topic);

/** Pure, never throws on hostile input. Anyone can emit such events: only proven pools count. */
export function decodeBinChanges(log: EventLog): readonly BinChange[] {
  const changes = byTopic.get(log.topics[0])?.decode(log) ?? [];
  return changes.map((change) => ({ pool: log.address, ...change }));
}

function binEvent<Values>(
  event: DefinedEvent<Values>,
  changesOf: (values: Values, log: EventLog) => readonly Change[],
): BinDecoder {
  return {
    topic: event.topic,
    decode(log) {
      const values = event.read(log);
      return values === null ? [] : changesOf(values, log);
    },
  };
}

function ofOneBin(
  event: DefinedEvent<Readonly<Record<'id' | 'amount0' | 'amount1', bigint>>>,
  sign: bigint,
): BinDecoder {
  return binEvent(event, ({ id, amount0, amount1 }) =>
    areAmounts(amount0, amount1) ? changeOf(id, [sign * amount0, sign * amount1]) : [],
  );
}

/** Reads only what Solidity encodes: its arrays follow one another. */
function ofManyBins(event: DefinedEvent<ManyBins>, sign: bigint): BinDecoder {
  return binEvent(event, ({ ids, amounts }, { data }) => {
    const count = ids.length;
    if (amounts.length !== count || wordCount(data) !== 2 * count + 4) return [];
    if (lengthAt(data, 0) !== 2 * WORD || lengthAt(data, WORD) !== (count + 3) * WORD) return [];
    return ids.flatMap((id, index) => {
      const [amount0, amount1] = amountsOf(amounts[index] ?? '0x0');
      return changeOf(id, [sign * amount0, sign * amount1]);
    });
  });
}

interface ManyBins {
  readonly ids: readonly bigint[];
  readonly amounts: readonly Hex[];
}

const WORD = 32;

function difference(added: Hex, taken: Hex): BinAmounts {
  const [plus, minus] = [amountsOf(added), amountsOf(taken)];
  return [plus[0] - minus[0], plus[1] - minus[1]];
}

function changeOf(bin: bigint, [amount0, amount1]: BinAmounts): readonly Change[] {
  return fitsUnsigned(bin, BIN_BITS) ? [{ bin: Number(bin), amount0, amount1 }] : [];
}

function areAmounts(...values: readonly bigint[]): boolean {
  return values.every((value) => fitsUnsigned(value, 128));
}
