import type { JsonObject } from '../nodes/chain-source.ts';
import { createSeededRandom } from '../seeded-random.ts';

export type SourceEncoding = 'identity' | 'gzip' | 'zstd' | 'unnamed-gzip';

/** Everything that a served source of history may do wrong. Rates are shares of the requests for blocks, 0 to 1. */
export interface SourceFaultSettings {
  /** Most blocks of a response; null: all. */
  readonly pageBlocks: number | null;
  /** Nothing there yet: 204 of a Portal, `next_block` equal to `from_block` of a HyperSync. */
  readonly emptyRate: number;
  readonly status: {
    readonly rate: number;
    readonly status: number;
    readonly body?: string;
    readonly retryAfterSeconds?: number;
  } | null;
  /** Ends a body early: after whole lines, inside the next line, or inside it with a broken connection. */
  readonly cut: {
    readonly rate: number;
    readonly afterLines: number;
    readonly where: 'line' | 'inside' | 'connection';
  } | null;
  readonly encoding: SourceEncoding;
  /** Half of the compressed bytes. */
  readonly truncateRate: number;
  /** So many faults by rates at most, then none; null: without end. */
  readonly times: number | null;
  /** Announces its finalized head but serves blocks only up to here; null: all. */
  readonly servedTo: number | null;
  /** Columns (`transactions.accessList`) that its archive does not have. */
  readonly missingColumns: readonly string[];
  /** Milliseconds before each response. */
  readonly latencyMs: number;
  /** For HyperSync: another chain id. */
  readonly wrongChainId: number | null;
  /** For HyperSync: 413 for more blocks than this. */
  readonly tooLargeBlocks: number | null;
  /** For HyperSync: sends access lists, authorization lists and withdrawals, in camelCase. */
  readonly nestedLists: boolean;
  /**
   * A lie: returns a block's line as it is sent; null leaves it out. A line of a HyperSync has `header`, `transactions`
   * and `logs` too, by its own names.
   */
  readonly tamper: ((line: JsonObject) => JsonObject | null) | null;
  /** A lie about a whole response: returns its lines as they are sent, from the ones that would be. */
  readonly rewrite: ((lines: readonly string[]) => readonly string[]) | null;
  /** Milliseconds between two bytes of a body; null: all at once. */
  readonly dripMs: number | null;
}

export const NO_SOURCE_FAULTS: SourceFaultSettings = {
  pageBlocks: null,
  emptyRate: 0,
  status: null,
  cut: null,
  encoding: 'identity',
  truncateRate: 0,
  times: null,
  servedTo: null,
  missingColumns: [],
  latencyMs: 0,
  wrongChainId: null,
  tooLargeBlocks: null,
  nestedLists: false,
  tamper: null,
  rewrite: null,
  dripMs: null,
};

type RolledFault = 'empty' | 'status' | 'cut' | 'truncate';

/** The faults of a running source, changeable at any time. */
export interface SourceFaults {
  readonly settings: SourceFaultSettings;
  readonly injected: Readonly<Record<RolledFault, number>>;
  set(change: Partial<SourceFaultSettings>): void;
  clear(): void;
  /** Whether this request has the fault. */
  roll(fault: RolledFault): boolean;
}

/** @param seed The same seed gives the same faults for the same order of requests. */
export function createSourceFaults(seed: number, initial: Partial<SourceFaultSettings> = {}): SourceFaults {
  let settings: SourceFaultSettings = { ...NO_SOURCE_FAULTS, ...initial };
  const random = createSeededRandom(`source-faults/${seed}`);
  const injected = { empty: 0, status: 0, cut: 0, truncate: 0 };
  const rateOf = (fault: RolledFault): number => {
    if (fault === 'empty') return settings.emptyRate;
    if (fault === 'truncate') return settings.truncateRate;
    return settings[fault]?.rate ?? 0;
  };
  return {
    get settings() {
      return settings;
    },
    injected,
    set(change) {
      settings = { ...settings, ...change };
    },
    clear() {
      settings = NO_SOURCE_FAULTS;
    },
    roll(fault) {
      const { times } = settings;
      const hit = times !== 0 && rateOf(fault) > 0 && random.chance(rateOf(fault));
      if (!hit) return false;
      injected[fault] += 1;
      if (times !== null) settings = { ...settings, times: times - 1 };
      return true;
    },
  };
}
