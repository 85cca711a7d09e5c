/** What docs/scaling.md is computed from. Change a figure here when it is measured anew, and run `npm run generate`. */

/** Seconds of processor time that a million logs take, by who takes them. */
export interface LogCost {
  readonly program: number;
  readonly node: number;
  readonly postgres: number;
}

/** `npm run bench -- --only backfill-processes`: one process, medians. */
export const FAST: LogCost = { program: 12.0, node: 1.94, postgres: 18.9 };
export const PROVEN: LogCost = { program: 20.1, node: 1.37, postgres: 18.4 };
/** The same benchmark: seconds for which commits of a million logs hold the lock of their chain. */
export const LOCK = { transfers: 2.21, everything: 2.06 };
/** The same benchmark: bytes of JSON that the node sends for a log. */
export const ANSWER_BYTES = { fast: 547, proven: 1_192 };
/** Of the logs of the benchmark's chain, as `createBenchChain` makes it. */
export const TRANSFERS_PER_LOG = 0.8;
/** `growth` at 100,000,000 rows (docs/benchmarks.md, docs/storage-layout.md): bytes of a transfer with both of its rows and all indexes, and of log of a row. */
export const TRANSFER_BYTES = 509;
export const LOG_BYTES_OF_ROW = 477;
/** One for each side. */
export const ROWS_PER_TRANSFER = 2;

/** How much there is of a chain. */
export interface ChainSize {
  readonly name: string;
  readonly transfers: number;
  readonly blocks: number;
  readonly isAssumed: boolean;
}

const SECONDS_PER_YEAR = 365.25 * 86_400;

/** A chain of which nobody has told us a count: years, seconds of a block and transfers a second on average over its life are guesses of the right size. */
function assumed(name: string, years: number, blockSeconds: number, transfersPerSecond: number): ChainSize {
  const seconds = years * SECONDS_PER_YEAR;
  return { name, transfers: seconds * transfersPerSecond, blocks: seconds / blockSeconds, isAssumed: true };
}

/** ERC-20 transfers; for Ethereum the count by the end of 2024, and its blocks by then. */
export const CHAINS: readonly ChainSize[] = [
  { name: 'Ethereum', transfers: 1_600_000_000, blocks: 21_500_000, isAssumed: false },
  assumed('Base', 3.4, 2, 75),
  assumed('BNB Smart Chain', 6.2, 2.5, 50),
  assumed('Polygon', 6.4, 2.1, 40),
  assumed('Arbitrum', 5.2, 0.3, 20),
  assumed('Optimism', 5, 2, 10),
  assumed('Avalanche', 6.2, 2, 10),
  assumed('Linea', 3.3, 2.5, 6),
  assumed('Cronos', 5, 5.6, 3),
  assumed('Gnosis', 8, 5.1, 2),
];
