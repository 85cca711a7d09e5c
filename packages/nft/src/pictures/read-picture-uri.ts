import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type ReadDatabase } from '@chainstead/db';
import { getCollection } from '../collections/get-collection.ts';
import { readDocument } from '../records/document-object.ts';
import { pictureOf } from '../records/normalized-metadata.ts';

/** Whose picture: an NFT's, or its collection's logo (`tokenId` null). */
export interface PictureSubject {
  readonly token: Address;
  /** Decimal digits. */
  readonly tokenId: string | null;
}

/** Where the picture is, as indexed metadata names it; null where none is known. Nothing is asked for on its behalf. */
export async function readPictureUri(
  database: ReadDatabase,
  chain: Chain,
  { token, tokenId }: PictureSubject,
): Promise<string | null> {
  if (tokenId === null) return (await getCollection(database, chain.id, token)).collectionLogo;
  const [row] = await database.select<{ metadata: string | null }>(
    'SELECT metadata FROM nft_token_metadata WHERE token_address = $1 AND chain_id = $2 AND token_id = $3::numeric',
    [addressBytes(token), chain.id, tokenId],
  );
  const document = readDocument(row?.metadata ?? null);
  return document === null ? null : pictureOf(document.fields);
}
