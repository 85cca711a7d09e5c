import type { Address, Hash } from '@chainstead/core';
import type { CollectionFields } from '../collections/collection-fields.ts';
import { tokenKey } from '../trades/transfers-by-token.ts';
import type { TokenDocument } from './document-object.ts';
import type { TokenRarity } from './read-rarities.ts';

/** A token, and whose of it a record tells: what a page's own statement finds. */
export interface RecordKey {
  readonly address: Address;
  /** Decimal digits. */
  readonly tokenId: string;
  /** The holder that the record is of; null where it is of nobody or of several. */
  readonly owner: Address | null;
  /** Units of that holder, decimal digits; null where they are not known. */
  readonly amount: string | null;
  /** Block of the newest change of owner or amount; null where it is not known. */
  readonly blockNumber: number | null;
}

/** All that a record shows, whatever a request asks for. Null: not known. */
export interface NftRecord extends RecordKey {
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  /** Of the contract. */
  readonly collection: CollectionFields;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
  /** The newest mint with no burn behind it, of ERC-1155 the first mint of the id. */
  readonly mint: { readonly blockNumber: number; readonly transactionHash: Hash } | null;
  /** As the contract gave it; null where it holds its document and is longer than 8,192 characters. */
  readonly tokenUri: string | null;
  /** When the contract was asked for it. */
  readonly uriSyncedAt: Date | null;
  readonly document: TokenDocument | null;
  /** When the document was read. */
  readonly documentSyncedAt: Date | null;
  /** Nobody has asked for its metadata yet. */
  readonly isUnread: boolean;
  /** Null where the traits of its collection are not computed. */
  readonly rarity: TokenRarity | null;
}

/** A token's name among those of a page. */
export function recordId({ address, tokenId }: Pick<RecordKey, 'address' | 'tokenId'>): string {
  return tokenKey({ token: address, tokenId });
}
