import { createSeededRandom } from '../seeded-random.ts';

/** What a fullnode does wrong. Rates are shares of the calls, 0 to 1. */
export interface AptosFaultSettings {
  readonly throttleRate: number;
  readonly retryAfterSeconds: number;
  readonly serverErrorRate: number;
  /** The body ends in the middle. */
  readonly truncateRate: number;
  /** A transaction in the middle of the page is missing. */
  readonly gapRate: number;
  /** A transaction comes twice. */
  readonly duplicateRate: number;
  /** The page begins at another version. */
  readonly wrongStartRate: number;
  /** The page is an empty list. */
  readonly emptyRate: number;
  /** The connection is closed without an answer. */
  readonly dropRate: number;
  /** Versions that this fullnode does not have yet. */
  readonly lag: number;
  /** What is below is pruned. */
  readonly oldest: number;
  /** Another chain's id; null: the ledger's own. */
  readonly chainId: number | null;
  /** From this version on the accumulator's roots are those of another ledger; null: never. */
  readonly forkFrom: number | null;
  /** The most transactions of a page, whatever the request. */
  readonly pageMax: number;
  readonly latencyMs: number;
  /** A budget of calls; responses contain the remaining calls, and refuse when none are left. null: none. */
  readonly budget: { readonly calls: number; readonly seconds: number } | null;
}

export const NO_APTOS_FAULTS: AptosFaultSettings = {
  throttleRate: 0,
  retryAfterSeconds: 0,
  serverErrorRate: 0,
  truncateRate: 0,
  gapRate: 0,
  duplicateRate: 0,
  wrongStartRate: 0,
  emptyRate: 0,
  dropRate: 0,
  lag: 0,
  oldest: 0,
  chainId: null,
  forkFrom: null,
  pageMax: 100,
  latencyMs: 0,
  budget: null,
};

type RateName = {
  [Name in keyof AptosFaultSettings]: Name extends `${string}Rate` ? Name : never;
}[keyof AptosFaultSettings];

/** The faults of a running fullnode; changed at any time. */
export interface AptosFaults {
  readonly settings: AptosFaultSettings;
  /** Faults by kind so far. */
  readonly injected: Readonly<Partial<Record<RateName, number>>>;
  set(change: Partial<AptosFaultSettings>): void;
  /** Whether this call has the fault. */
  roll(fault: RateName): boolean;
}

/** @param seed The same seed gives the same faults for the same order of requests. */
export function createAptosFaults(seed: number, initial: Partial<AptosFaultSettings> = {}): AptosFaults {
  let settings: AptosFaultSettings = { ...NO_APTOS_FAULTS, ...initial };
  const random = createSeededRandom(`aptos-faults/${seed}`);
  const injected: Partial<Record<RateName, number>> = {};
  return {
    get settings() {
      return settings;
    },
    injected,
    set(change) {
      settings = { ...settings, ...change };
    },
    roll(fault) {
      const hit = settings[fault] > 0 && random.chance(settings[fault]);
      if (hit) injected[fault] = (injected[fault] ?? 0) + 1;
      return hit;
    },
  };
}
