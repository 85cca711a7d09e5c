/** Start with `transfers/dataset.ts`. */

export {
  COLLECTION_COLUMNS,
  type CollectionFields,
  readCollectionFields,
} from './collections/collection-fields.ts';
export {
  type CollectionReadState,
  type CollectionReadsPage,
  listCollectionReads,
  type MetadataCounts,
  type MetadataStatus,
  readMetadataStatuses,
} from './collections/list-collection-reads.ts';
export { addNftMetadata } from './collections/metadata-worker.ts';
export { createDocumentReader } from './collections/read-document.ts';
export { nftDueEntries } from './due-entries.ts';
export { createCollectionOwnersRoutes } from './owners/owners-routes.ts';
export { createPictureReader, type PictureReader } from './pictures/picture-reader.ts';
export type { SendersOf } from './records/record-pages.ts';
export { collectionSalePricesRoute, tokenSalePricesRoute } from './sale-prices/sale-prices-route.ts';
export { readSaleDays, type SaleDay } from './sale-prices/sale-prices-statement.ts';
export { metadataRoutes } from './single-nfts/metadata-routes.ts';
export { createHeldNow, nftAmountsNow, nftOwnersNow } from './token-state/held-readers.ts';
export { nftTrades } from './trades/dataset.ts';
export { collectionTradesRoute, tokenTradesRoute, walletTradesRoute } from './trades/trades-route.ts';
export { readTraitsStatuses, type TraitsStatus } from './traits/traits-at-work.ts';
export { createTraitsRoutes } from './traits/traits-routes.ts';
export { addTraits } from './traits/traits-worker.ts';
export { hasNftTransfers, nftTransfersRoutes } from './transfer-lists/nft-transfers-routes.ts';
export { createWalletCollectionsRoute } from './wallet-collections/wallet-collections-route.ts';
export { createWalletNftsRoute } from './wallet-nfts/wallet-nfts-route.ts';
