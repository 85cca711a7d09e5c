import type { Address, Hash } from '@chainstead/core';
import type { CollectionFields } from '../collections/collection-fields.ts';
import type { TokenDocument } from '../document-object.ts';
import { tokenKey } from '../trades/transfers-by-token.ts';
import type { RarityFigures, TraitFigures } from './rarity-figures.ts';

export interface RecordKey {
  readonly address: Address;
  readonly tokenId: string;
  /** Null if there is none, or several. */
  readonly owner: Address | null;
  /** Units of that holder, decimal digits; null if unknown. */
  readonly amount: string | null;
  /** Newest change of owner or amount; null if unknown. */
  readonly blockNumber: number | null;
}

export interface NftRecord extends RecordKey {
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly collection: CollectionFields;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
  /** The newest mint without a later burn; for ERC-1155, the first mint of the id. */
  readonly mint: { readonly blockNumber: number; readonly transactionHash: Hash } | null;
  /** Null if it contains its document and is longer than 8,192 characters. */
  readonly tokenUri: string | null;
  readonly uriSyncedAt: Date | null;
  readonly document: TokenDocument | null;
  readonly documentSyncedAt: Date | null;
  readonly isUnread: boolean;
  /** Null if its collection's traits are not computed. */
  readonly rarity: TokenRarity | null;
}

export function recordId({ address, tokenId }: Pick<RecordKey, 'address' | 'tokenId'>): string {
  return tokenKey({ token: address, tokenId });
}

export interface TokenRarity {
  readonly figures: RarityFigures;
  readonly traits: ReadonlyMap<string, TraitFigures>;
}
