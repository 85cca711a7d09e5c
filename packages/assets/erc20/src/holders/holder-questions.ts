import { parseAddress } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import { z } from 'zod';

const address = z.string().transform(parseAddress);

const ownersSchema = z.object({ token: address, accounts: z.array(address).readonly() });
export type OwnersQuestion = z.infer<typeof ownersSchema>;

/** The values are stored; the response only confirms that. */
export const OWNERS_NOW: StateKind<OwnersQuestion, { readonly read: number }> = {
  name: 'erc20-owners',
  question: ownersSchema,
  answer: z.object({ read: z.int() }),
  // A contract that no node can run in time delays no other.
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

const numbers = z.array(z.int()).readonly();

const countsSchema = z.object({
  holders: z.int(),
  /** By index of `HOLDER_CLASSES` and of `ACQUISITIONS`. */
  classes: numbers,
  acquired: numbers,
  /** Base units of the largest holders, by index of {@link TOPS}. */
  tops: z.array(z.string()).readonly(),
  /** By index of {@link CHANGE_SPANS}. */
  changes: numbers,
  /** Base units. */
  supply: z.string(),
  /** Transfers determine the balances, and all indexed ones were followed in order. */
  isSound: z.boolean(),
});
export type HolderCounts = z.infer<typeof countsSchema>;

export const HOLDERS_COUNTED: StateKind<Pick<OwnersQuestion, 'token'>, HolderCounts> = {
  name: 'erc20-holder-counts',
  question: z.object({ token: address }),
  answer: countsSchema,
};
