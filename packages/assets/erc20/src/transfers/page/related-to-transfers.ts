import type { Address } from '@chainstead/core';
import { type AddressLabel, type LabelEntry, type PageBlock, readBlocks, readLabels } from '@chainstead/pages';
import { type TokenBook, type TokenEntry, tokenBook } from '@chainstead/tokens';

export interface RelatedToTransfers {
  blockOf(transfer: { readonly block_number: number }): PageBlock;
  readonly tokenOf: TokenBook;
  labelOf(address: Address): AddressLabel;
}

export interface RelatedColumns {
  readonly blocks: string | null;
  readonly tokens: readonly TokenEntry[] | null;
  readonly labels: readonly LabelEntry[] | null;
}

/** @throws {InconsistentPageError} if a transfer lacks its block */
export function readRelated(
  { blocks, tokens, labels }: RelatedColumns,
  transfers: readonly { readonly block_number: number }[],
): RelatedToTransfers {
  return { blockOf: readBlocks(blocks, transfers), tokenOf: tokenBook(tokens), labelOf: readLabels(labels) };
}
