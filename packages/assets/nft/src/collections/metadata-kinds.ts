export const COLLECTION_METADATA = 'nft-collection';
export const TOKEN_METADATA = 'nft-token';
