import type { StateKind } from '@chainstead/node-reads';
import { z } from '@hono/zod-openapi';

/** Each is one text ({@link recordId}, {@link holdingId}). */
interface Items {
  items: string[];
}

/** Null if the contract's result is empty. */
type Reported = (readonly [item: string, reported: string | null])[];

/** Failures don't share a cause: pages cover many contracts. */
const failsAlike = (): string => '';

const answer = z.array(z.tuple([z.string(), z.string().nullable()]));
const itemsOf = (item: RegExp) => z.object({ items: z.array(z.string().regex(item)).min(1) });

/** By `ownerOf`. */
export const NFT_OWNERS: StateKind<Items, Reported> = {
  name: 'nft-owners',
  question: itemsOf(/^0x[0-9a-f]{40}:\d+$/),
  answer,
  failsAlike,
};

/** By `balanceOfBatch`, in decimal digits. */
export const NFT_AMOUNTS: StateKind<Items, Reported> = {
  name: 'nft-amounts',
  question: itemsOf(/^0x[0-9a-f]{40}:\d+:0x[0-9a-f]{40}$/),
  answer,
  failsAlike,
};
