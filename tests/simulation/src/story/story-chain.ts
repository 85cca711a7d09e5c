/** A chain as the program knows it. */
export interface StoryChain {
  /** As in CHAINS. */
  readonly key: string;
  readonly id: number;
  /** Whether the program has it in its registry: with its wrapped native token, and Multicall3. */
  readonly isKnown: boolean;
}

/** A configured chain, and one with its wrapped native token and Multicall3 from its first block on. */
export const STORY_CHAINS: readonly StoryChain[] = [
  { key: 'story', id: 1_337_002, isKnown: false },
  { key: 'lisk-sepolia', id: 4202, isKnown: true },
];
