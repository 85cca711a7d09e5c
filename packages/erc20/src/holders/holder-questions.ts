import { type Address, parseAddress } from '@chainstead/core';
import type { StateKind } from '@chainstead/state';
import { z } from 'zod';

const address = z.string().transform((text): Address => parseAddress(text));

/** Has a token's contract asked what some accounts hold. What it says is kept; the answer only says that it is. */
export interface OwnersQuestion {
  readonly token: Address;
  readonly accounts: readonly Address[];
}

export const OWNERS_NOW: StateKind<OwnersQuestion, { readonly read: number }> = {
  name: 'erc20-owners',
  question: z.object({ token: address, accounts: z.array(address) }),
  answer: z.object({ read: z.int() }),
  // Of one token, so that a contract that no node can run in time holds up no other.
  failsAlike: ({ token }) => token,
};

/** How many of the largest holders are summed up. */
export const TOPS = [10, 25, 50, 100, 250, 500] as const;

/** Changes are told of so long: seconds by name. */
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

/** How a token is held, as it was counted at one moment. */
export interface HolderCounts {
  readonly holders: number;
  /** By the places of `HOLDER_CLASSES` and of `ACQUISITIONS`. */
  readonly classes: readonly number[];
  readonly acquired: readonly number[];
  /** What the largest hold together, in base units, by the places of {@link TOPS}. */
  readonly tops: readonly string[];
  /** By the places of {@link CHANGE_SPANS}. */
  readonly changes: readonly number[];
  /** Of which shares are told; base units. */
  readonly supply: string;
  readonly decimals: number;
  /** Whether nothing of it is in doubt but for blocks that are not indexed: the transfers tell the balances, and all of them were followed in order. */
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
    decimals: z.int(),
    isSound: z.boolean(),
  }),
};
