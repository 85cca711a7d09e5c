import type { Hash } from '@chainstead/core';
import { bytesOfLogs, type FeedBlock } from './feed-block.ts';

interface BranchPath {
  /** Newest first. */
  readonly removed: readonly FeedBlock[];
  /** Oldest first. */
  readonly added: readonly FeedBlock[];
}

export class Branch {
  readonly #blocks: FeedBlock[] = [];
  readonly #blocksMax: number;
  readonly #logBytesMax: number;

  /** @param logBytesMax older blocks drop their logs */
  constructor(blocksMax: number, logBytesMax: number) {
    this.#blocksMax = blocksMax;
    this.#logBytesMax = logBytesMax;
  }

  get tip(): FeedBlock | null {
    return this.#blocks.at(-1) ?? null;
  }

  get oldest(): FeedBlock | null {
    return this.#blocks[0] ?? null;
  }

  get blocks(): readonly FeedBlock[] {
    return this.#blocks;
  }

  push(block: FeedBlock): void {
    this.#blocks.push(block);
    if (this.#blocks.length > this.#blocksMax) this.#blocks.shift();
    this.#forgetOldLogs();
  }

  pop(): void {
    this.#blocks.pop();
  }

  clear(): void {
    this.#blocks.length = 0;
  }

  async pathTo(block: FeedBlock, parentOf: (child: FeedBlock) => Promise<FeedBlock>): Promise<BranchPath> {
    const added: FeedBlock[] = [];
    const lowest = this.oldest?.number ?? block.number;
    let next = block;
    for (;;) {
      const fork = this.#indexOf(next.hash);
      if (fork !== -1) return { removed: this.#above(fork), added };
      const isBelow = next.number < lowest;
      if (!isBelow || added.length === 0) added.unshift(next);
      const parent = this.#indexOf(next.parentHash);
      if (parent !== -1 || next.number <= lowest) return { removed: this.#above(parent), added };
      next = await parentOf(next);
    }
  }

  #indexOf(hash: Hash): number {
    return this.#blocks.findLastIndex((block) => block.hash === hash);
  }

  #above(index: number): readonly FeedBlock[] {
    return this.#blocks.slice(index + 1).toReversed();
  }

  #forgetOldLogs(): void {
    let bytes = 0;
    for (const block of this.#blocks.toReversed()) {
      if (block.logs === null) continue;
      bytes += bytesOfLogs(block.logs);
      if (bytes > this.#logBytesMax && block !== this.tip) block.logs = null;
    }
  }
}
