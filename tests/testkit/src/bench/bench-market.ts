import { type Address, type Hash, type Hex, keccak256Hex } from '@chainstead/core';
import { addressTopic, numberTopic, word } from '../scripted/scripted-event.ts';
import { SWAP_TOPIC } from '../scripted/scripted-events.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { EmittedLog } from './bench-nfts.ts';

/** Uniswap v2 pools of a benchmark's chain, and the price feed that values their trades. */
export interface BenchMarketOptions {
  /** Share of what happens in these pools, which emit a Sync and a Swap each time. */
  readonly share: number;
  /** Addresses of the pools. The reserves of each begin at 1,000 units with 18 decimals. */
  readonly pools: readonly Address[];
  /** The aggregator of the coin's price. It reports 2,000 dollars with 8 decimals. */
  readonly aggregator: Address;
  /** Blocks from one report to the next. */
  readonly reportEvery: number;
}

/** Pools that remember their reserves, so that each Sync fits the Swap after it. */
export interface BenchMarket {
  /** Returns the Sync and the Swap of the next trade. */
  trade(recipient: Address): readonly [sync: EmittedLog, swap: EmittedLog];
  /** Returns the feed's event of a block; null if it has none. @param timestamp Unix seconds */
  report(block: number, timestamp: number): EmittedLog | null;
}

const SYNC_TOPIC = keccak256Hex(Buffer.from('Sync(uint112,uint112)'));
const ANSWER_TOPIC = keccak256Hex(Buffer.from('AnswerUpdated(int256,uint256,uint256)'));
const FIRST_RESERVE = 10n ** 21n;
const PRICE = 200_000_000_000;
/** A trade moves a thousandth of the reserves at most. */
const TRADED_PART = 1_000n;

/** The same seed returns the same trades. */
export function createBenchMarket(random: SeededRandom, options: BenchMarketOptions): BenchMarket {
  const pools = options.pools.map((address) => ({
    address,
    reserves: [FIRST_RESERVE, FIRST_RESERVE] as [bigint, bigint],
  }));
  return {
    trade(recipient) {
      const { address, reserves } = random.pick(pools);
      const sold = random.chance(0.5) ? 0 : 1;
      const bought = sold === 0 ? 1 : 0;
      const given = reserves[sold] / TRADED_PART / BigInt(random.integer(1, 1_000)) + 1n;
      const taken = (reserves[bought] * given) / (reserves[sold] + given);
      reserves[sold] += given;
      reserves[bought] -= taken;
      const amounts = sold === 0 ? [given, 0n, 0n, taken] : [0n, given, taken, 0n];
      return [
        { address, topics: [SYNC_TOPIC], data: words(reserves) },
        { address, topics: [SWAP_TOPIC, addressTopic(recipient), addressTopic(recipient)], data: words(amounts) },
      ];
    },
    report: (block, timestamp) =>
      block % options.reportEvery === 0
        ? {
            address: options.aggregator,
            topics: [ANSWER_TOPIC, numberTopic(PRICE) as Hash, numberTopic(block) as Hash],
            data: words([BigInt(timestamp)]),
          }
        : null,
  };
}

function words(values: readonly bigint[]): Hex {
  return `0x${values.map(word).join('')}`;
}
