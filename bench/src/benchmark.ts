import type { ScratchServer } from '@chainstead/testkit';

/** How large a benchmark is. */
export interface BenchmarkSizes {
  /** Blocks of the main chain; each holds 100 logs, 80 of them ERC-20 transfers. */
  readonly blocks: number;
  /** Blocks that are read whole and proven. */
  readonly provenBlocks: number;
  /** Blocks that are read from a source of history, and such with 0.13 events per block. */
  readonly historyBlocks: number;
  readonly sparseBlocks: number;
  /** A Ponder run is ended after so many seconds; its rate is that of the time before. */
  readonly ponderSeconds: number;
  /** Rows of `erc20_transfer_sides` behind the API, and how many of them belong to one huge wallet. */
  readonly apiRows: number;
  readonly apiWhaleRows: number;
  /** Rows of `erc20_transfer_sides` that it is filled up to, to see whether the last cost what the first did. */
  readonly growthRows: number;
  /** Events of one contract of the operator (about so many of a factory's children), and how many children there are. */
  readonly contractEvents: number;
  readonly contractChildren: number;
  /** Rows of a table of a contract that it is filled up to. */
  readonly contractRows: number;
  /** Rows of a table of a contract behind the API. */
  readonly contractRowsServed: number;
  /** Children of one factory, most of them silent. */
  readonly children: number;
  /** Swaps of one pool behind the API. */
  readonly swaps: number;
  /** Who holds the token behind the API. */
  readonly holders: number;
  /** Seconds of each load on the API. */
  readonly loadSeconds: number;
  /** Requests of each latency measurement. */
  readonly latencyRequests: number;
  /** Seconds of following at 20 blocks a second. */
  readonly followSeconds: number;
  /** Part of the sizes of the public benchmark. */
  readonly publicShare: number;
  /** Blocks of 20,000 transactions, and seconds of following 4 blocks a second of 500. */
  readonly bigBlocks: number;
  readonly fastBlocksSeconds: number;
  /** Blocks that are followed with addresses being watched, and how many addresses in how many streams. */
  readonly matchedBlocks: number;
  readonly watchedAddresses: number;
  readonly watchingStreams: number;
  /** Webhooks that are sent to a receiver as fast as may be. */
  readonly webhooks: number;
}

/** What a benchmark is given. */
export interface BenchmarkContext {
  /** Production settings: fsync and synchronous commit are on. */
  readonly server: ScratchServer;
  readonly sizes: BenchmarkSizes;
  /** Runs of each side. */
  readonly runs: number;
  /** Writes the progress to standard error. */
  say(text: string): void;
}

/** One figure, measured several times. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly samples: readonly number[];
}

/** One figure of two sides, measured in turn. `samples[i]` of both were measured next to each other. */
export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly ours: readonly number[];
  readonly peer: readonly number[];
  /** What the ratio is held against; absent where the figure is for information. */
  readonly target?: Target;
}

/** `ours / peer` must be at least, or at most, so much. */
export type Target = { readonly atLeast: number } | { readonly atMost: number };

/** What a benchmark found. */
export interface BenchmarkReport {
  readonly comparisons: readonly Comparison[];
  readonly measures: readonly (Measure & { readonly target?: Target })[];
  /** What must be known to read the figures. */
  readonly notes: readonly string[];
}

/** One benchmark: a file in `benchmarks/`. */
export interface Benchmark {
  readonly name: string;
  /** One sentence: what is compared with what. */
  readonly title: string;
  run(context: BenchmarkContext): Promise<BenchmarkReport>;
}

export const FULL_SIZES: BenchmarkSizes = {
  blocks: 13_000,
  provenBlocks: 12_500,
  historyBlocks: 4_000,
  sparseBlocks: 1_000_000,
  ponderSeconds: 90,
  apiRows: 5_020_000,
  apiWhaleRows: 1_000_000,
  growthRows: 100_000_000,
  contractEvents: 100_000,
  contractChildren: 1_000,
  contractRows: 20_000_000,
  contractRowsServed: 1_000_000,
  children: 1_000_000,
  swaps: 1_000_000,
  holders: 1_000_000,
  loadSeconds: 6,
  latencyRequests: 400,
  followSeconds: 30,
  publicShare: 1,
  bigBlocks: 10,
  fastBlocksSeconds: 600,
  matchedBlocks: 6_000,
  watchedAddresses: 1_000_000,
  watchingStreams: 1_000,
  webhooks: 10_000,
};

/** For seeing that everything works; the figures mean little. */
export const QUICK_SIZES: BenchmarkSizes = {
  blocks: 1_000,
  provenBlocks: 300,
  historyBlocks: 600,
  sparseBlocks: 50_000,
  ponderSeconds: 60,
  apiRows: 500_000,
  apiWhaleRows: 110_000,
  growthRows: 200_000,
  contractEvents: 5_000,
  contractChildren: 50,
  contractRows: 100_000,
  contractRowsServed: 200_000,
  children: 20_000,
  swaps: 150_000,
  holders: 110_000,
  loadSeconds: 2,
  latencyRequests: 50,
  followSeconds: 5,
  publicShare: 0.01,
  bigBlocks: 2,
  fastBlocksSeconds: 20,
  matchedBlocks: 1_000,
  watchedAddresses: 100_000,
  watchingStreams: 100,
  webhooks: 1_000,
};
