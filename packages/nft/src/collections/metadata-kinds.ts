/** Due work names in metrics and notifications: collections, and token documents. */
export const COLLECTION_METADATA = 'nft-collection';
export const TOKEN_METADATA = 'nft-token';
