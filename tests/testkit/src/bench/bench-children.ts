import { type Address, type Hash, keccak256Hex, parseAddress } from '@chainstead/core';
import { addressTopic, word } from '../scripted/scripted-event.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { TestkitError } from '../testkit-error.ts';
import type { EmittedLog } from './bench-nfts.ts';

/** The event with which the factory of a benchmark's chain names a child. */
export const BENCH_CREATION_EVENT = 'Created(address indexed child, uint256 number)';

const CREATION_TOPIC: Hash = keccak256Hex(Buffer.from('Created(address,uint256)'));

/** Children of a factory, created one after the other in the first half of the chain. */
export interface BenchChildren {
  readonly factory: Address;
  readonly children: readonly Address[];
  /** Returns the logs of the factory in a block. */
  creationsIn(block: number): readonly EmittedLog[];
  /** Returns the number of children that were created in earlier blocks. */
  createdBefore(block: number): number;
}

/** @param logsMax logs of the factory that fit into a block @throws TestkitError if more children are created in one */
export function createBenchChildren(
  random: SeededRandom,
  { count, blocks, logsMax }: { readonly count: number; readonly blocks: number; readonly logsMax: number },
): BenchChildren {
  const half = Math.max(1, Math.floor(blocks / 2));
  if (count > half * logsMax)
    throw new TestkitError(`${count} children don't fit into ${half} blocks`, { logsMax });
  const factory = parseAddress(random.hex(20));
  const children = Array.from({ length: count }, () => parseAddress(random.hex(20)));
  const createdBefore = (block: number): number =>
    Math.min(count, Math.ceil((Math.max(0, block - 1) * count) / half));
  return {
    factory,
    children,
    createdBefore,
    creationsIn(block) {
      const first = createdBefore(block);
      return children.slice(first, createdBefore(block + 1)).map((child, index) => ({
        address: factory,
        topics: [CREATION_TOPIC, addressTopic(child)],
        data: `0x${word(first + index)}`,
      }));
    },
  };
}
