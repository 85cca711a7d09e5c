import type { StateKind } from '@chainstead/state';
import { z } from '@hono/zod-openapi';

/** About many at once, each as one text ({@link recordId}, {@link holdingId}). */
interface Items {
  items: string[];
}

/** Of each item what its contract says, null where that is nothing. */
type Told = (readonly [item: string, told: string | null])[];

/** Of whatever contracts: pages are of many. */
const failsAlike = (): string => '';

const answer = z.array(z.tuple([z.string(), z.string().nullable()]));
const itemsOf = (item: RegExp) => z.object({ items: z.array(z.string().regex(item)).min(1) });

/** Who owns ids of ERC-721, by `ownerOf`. */
export const NFT_OWNERS: StateKind<Items, Told> = {
  name: 'nft-owners',
  question: itemsOf(/^0x[0-9a-f]{40}:\d+$/),
  answer,
  failsAlike,
};

/** What accounts have of ids of ERC-1155, by `balanceOfBatch`. Decimal digits. */
export const NFT_AMOUNTS: StateKind<Items, Told> = {
  name: 'nft-amounts',
  question: itemsOf(/^0x[0-9a-f]{40}:\d+:0x[0-9a-f]{40}$/),
  answer,
  failsAlike,
};
