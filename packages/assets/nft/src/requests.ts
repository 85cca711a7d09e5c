/** For requests of other packages: without routes, readers and workers. */
export { collectionFacts } from './collections/collection-facts-statement.ts';
export { readDocument } from './document-object.ts';
export {
  type NormalizedMetadata,
  normalizedMetadataSchema,
  normalizeMetadata,
} from './records/normalized-metadata.ts';
export { nftTransfers } from './transfers/dataset.ts';
export { countHeldNfts, type HeldNfts } from './wallet-collections/count-held-nfts.ts';
