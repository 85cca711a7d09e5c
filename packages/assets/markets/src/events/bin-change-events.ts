import { type Address, type Hash, keccak256Hex } from '@chainstead/core';
import { bigIntAt, lengthAt, wordCount } from '@chainstead/events/abi';
import { type EventLayout, type EventLog, eventLayout, fitsUnsigned, hasLayout } from './event-layout.ts';

export interface BinChange {
  readonly pool: Address;
  readonly bin: number;
  /** Base units of X and Y into the bin; negative: out of it. */
  readonly amount0: bigint;
  readonly amount1: bigint;
}

type Change = Omit<BinChange, 'pool'>;

interface BinDecoder {
  readonly event: EventLayout;
  decode(log: EventLog): readonly Change[];
}

const LOW_128 = (1n << 128n) - 1n;

/** LBPair.sol 2.0 to 2.2. Version 2.0 holds fees apart; later ones only those of the protocol. */
const decoders: readonly BinDecoder[] = [
  {
    event: eventLayout('Swap(address,address,uint256,bool,uint256,uint256,uint256,uint256)', 4, 5),
    decode: (log) => {
      const [isXIn, amountIn, amountOut] = [bigIntAt(log.data, 0), bigIntAt(log.data, 1), bigIntAt(log.data, 2)];
      if (isXIn > 1n || !areAmounts(amountIn, amountOut)) return [];
      return changeOf(idTopic(log), isXIn === 1n ? [amountIn, -amountOut] : [-amountOut, amountIn]);
    },
  },
  ofSingleBin('DepositedToBin', 1n),
  ofSingleBin('WithdrawnFromBin', -1n),
  {
    event: eventLayout('Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)', 3, 6),
    decode: (log) => changeOf(bigIntAt(log.data, 0), difference(log, 1, 2)),
  },
  {
    // The fees of a flash loan stay in the active bin.
    event: eventLayout('FlashLoan(address,address,uint24,bytes32,bytes32,bytes32)', 3, 4),
    decode: (log) => changeOf(bigIntAt(log.data, 0), difference(log, 2, 3)),
  },
];

const byTopic: ReadonlyMap<string, BinDecoder> = new Map(decoders.map((decoder) => [decoder.event.topic, decoder]));
const DEPOSITED = topicOf('DepositedToBins(address,address,uint256[],bytes32[])');
const WITHDRAWN = topicOf('WithdrawnFromBins(address,address,uint256[],bytes32[])');
export const BIN_CHANGE_TOPICS: readonly Hash[] = [...decoders.map(({ event }) => event.topic), DEPOSITED, WITHDRAWN];

/** Pure, never throws on hostile input. Anyone can emit such events: only proven pools count. */
export function decodeBinChanges(log: EventLog): readonly BinChange[] {
  const [topic0] = log.topics;
  const decoder = topic0 === undefined ? undefined : byTopic.get(topic0);
  if (decoder !== undefined && hasLayout(decoder.event, log)) return named(log, decoder.decode(log));
  if (topic0 === DEPOSITED) return named(log, ofManyBins(log, 1n));
  return topic0 === WITHDRAWN ? named(log, ofManyBins(log, -1n)) : [];
}

function named({ address: pool }: EventLog, changes: readonly Change[]): readonly BinChange[] {
  return changes.map((change) => ({ pool, ...change }));
}

function ofSingleBin(name: string, sign: bigint): BinDecoder {
  return {
    event: eventLayout(`${name}(address,address,uint256,uint256,uint256)`, 4, 2),
    decode: (log) => {
      const [amount0, amount1] = [bigIntAt(log.data, 0), bigIntAt(log.data, 1)];
      return areAmounts(amount0, amount1) ? changeOf(idTopic(log), [sign * amount0, sign * amount1]) : [];
    },
  };
}

function ofManyBins({ topics, data }: EventLog, sign: bigint): readonly Change[] {
  const words = wordCount(data);
  const count = lengthAt(data, 2 * WORD);
  if (topics.length !== 3 || count === undefined || words !== 2 * count + 4) return [];
  if (lengthAt(data, 0) !== 2 * WORD || lengthAt(data, WORD) !== (count + 3) * WORD) return [];
  if (lengthAt(data, (count + 3) * WORD) !== count) return [];
  return Array.from({ length: count }, (_, index) => {
    const amounts = bigIntAt(data, count + 4 + index);
    return changeOf(bigIntAt(data, 3 + index), [sign * (amounts & LOW_128), sign * (amounts >> 128n)]);
  }).flat();
}

const WORD = 32;

/** X is in the low half of a word, Y in the high half. */
function difference({ data }: EventLog, added: number, taken: number): readonly [bigint, bigint] {
  const [plus, minus] = [bigIntAt(data, added), bigIntAt(data, taken)];
  return [(plus & LOW_128) - (minus & LOW_128), (plus >> 128n) - (minus >> 128n)];
}

function changeOf(bin: bigint, [amount0, amount1]: readonly [bigint, bigint]): readonly Change[] {
  return fitsUnsigned(bin, 24) ? [{ bin: Number(bin), amount0, amount1 }] : [];
}

function areAmounts(...values: readonly bigint[]): boolean {
  return values.every((value) => fitsUnsigned(value, 128));
}

function idTopic({ topics }: EventLog): bigint {
  return BigInt(topics[3] ?? '0x0');
}

function topicOf(signature: string): Hash {
  return keccak256Hex(Buffer.from(signature));
}
