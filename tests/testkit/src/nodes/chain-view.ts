import type { BlockRange } from '@chainstead/core';
import type { Faults } from '../json-rpc/faults.ts';
import { createSeededRandom } from '../seeded-random.ts';
import type { ChainSource, JsonObject, SourceBlock } from './chain-source.ts';

/** The source as one node shows it: behind its head, lying about it, forgetful of history, as its faults say. */
export interface ChainView {
  readonly source: ChainSource;
  readonly faults: Faults;
  /** The highest block that the node has. */
  readonly head: number;
  /** The number that the node announces. */
  readonly announcedHead: number;
  /** The number that a tag or quantity means; null for a tag that the chain does not have; undefined when it is neither. */
  resolve(block: unknown): number | null | undefined;
  /** The canonical block of that number, where the node has it. */
  blockAt(number: number): SourceBlock | undefined;
  /** The canonical blocks of the range that the node has. */
  blocksIn(range: BlockRange): Iterable<SourceBlock>;
  blockByHash(hash: string): SourceBlock | undefined;
  /** Whether the block's receipts and logs are gone. */
  isPruned(number: number): boolean;
  /** The header shown for a head that does not exist, or null for the true one. */
  inventedHead(): JsonObject | null;
}

export function createChainView(source: ChainSource, faults: Faults): ChainView {
  const visibleHead = (): number => Math.max(source.firstBlock, source.head - faults.settings.lagBlocks);
  const announced = (): number => visibleHead() + faults.settings.headLieBlocks;
  const isShown = (block: SourceBlock): boolean =>
    block.number < visibleHead() || (block.number === visibleHead() && !faults.settings.nullForHead);
  return {
    source,
    faults,
    get head() {
      return visibleHead();
    },
    get announcedHead() {
      return announced();
    },
    resolve(block) {
      if (block === undefined || block === 'latest' || block === 'pending') return announced();
      if (block === 'earliest') return source.firstBlock;
      if (block === 'finalized' || block === 'safe')
        return source.finalized === null ? null : Math.min(source.finalized, visibleHead());
      if (typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block)) return Number(block);
      return undefined;
    },
    blockAt(number) {
      const block = source.blockAt(number);
      return block !== undefined && isShown(block) ? block : undefined;
    },
    blocksIn: (range) => Iterator.from(source.blocksIn(range)).filter(isShown),
    blockByHash(hash) {
      const block = source.blockByHash(hash.toLowerCase());
      return block !== undefined && isShown(block) ? block : undefined;
    },
    isPruned: (number) => number < (faults.settings.prunedBelow?.block ?? 0),
    inventedHead() {
      const { headLieBlocks } = faults.settings;
      const real = source.blockAt(visibleHead());
      if (headLieBlocks <= 0 || real === undefined) return null;
      const random = createSeededRandom(`invented/${real.hash}/${headLieBlocks}`);
      const number = `0x${announced().toString(16)}`;
      return { ...real.header, number, hash: random.hex(32), parentHash: random.hex(32) };
    },
  };
}
