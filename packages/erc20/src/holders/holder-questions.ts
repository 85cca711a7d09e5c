import { type Address, parseAddress } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import { z } from 'zod';

const address = z.string().transform((text): Address => parseAddress(text));

/** The values are stored; the response only confirms that. */
export interface OwnersQuestion {
  readonly token: Address;
  readonly accounts: readonly Address[];
}

export const OWNERS_NOW: StateKind<OwnersQuestion, { readonly read: number }> = {
  name: 'erc20-owners',
  question: z.object({ token: address, accounts: z.array(address) }),
  answer: z.object({ read: z.int() }),
  // Grouped by token, so that a contract that no node can run in time delays no other.
  failsAlike: ({ token }) => token,
};

export const TOPS = [10, 25, 50, 100, 250, 500] as const;

/** Seconds. */
export const CHANGE_SPANS = {
  '5min': 300,
  '1h': 3_600,
  '6h': 21_600,
  '24h': 86_400,
  '3d': 259_200,
  '7d': 604_800,
  '30d': 2_592_000,
} as const;

export type ChangeSpan = keyof typeof CHANGE_SPANS;

export interface HolderCounts {
  readonly holders: number;
  /** By index of `HOLDER_CLASSES` and of `ACQUISITIONS`. */
  readonly classes: readonly number[];
  readonly acquired: readonly number[];
  /** Total of the largest holders in base units, by index of {@link TOPS}. */
  readonly tops: readonly string[];
  readonly changes: readonly number[];
  readonly supply: string;
  /** Transfers determine the balances, and all indexed ones were followed in order. */
  readonly isSound: boolean;
}

export const HOLDERS_COUNTED: StateKind<{ readonly token: Address }, HolderCounts> = {
  name: 'erc20-holder-counts',
  question: z.object({ token: address }),
  answer: z.object({
    holders: z.int(),
    classes: z.array(z.int()),
    acquired: z.array(z.int()),
    tops: z.array(z.string()),
    changes: z.array(z.int()),
    supply: z.string(),
    isSound: z.boolean(),
  }),
};
