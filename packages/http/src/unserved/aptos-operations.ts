import { type UnservedOperation, unserved } from './unserved-operation.ts';

/** Aptos operations. */
export const APTOS_OPERATIONS: readonly UnservedOperation[] = [
  ...unserved('', 'NFT Tokens', [
    ['GET', '/nfts', 'getNFTsByIds'],
    ['GET', '/nfts/collections/{collection_data_id_hash}/tokens', 'getNFTsByCollection'],
    ['GET', '/nfts/creators', 'getNFTsByCreators'],
  ]),
  ...unserved('', 'NFT Collections', [
    ['GET', '/collections', 'getNFTCollections'],
    ['GET', '/collections/ids', 'getNFTCollectionsByIds'],
    ['GET', '/collections/creators', 'getNFTCollectionsByCreator'],
  ]),
  ...unserved('', 'NFT Owners', [
    ['GET', '/nfts/owners', 'getNFTOwnersByTokens'],
    ['GET', '/nfts/collections/{collection_data_id_hash}/owners', 'getNFTOwnersByCollection'],
    ['GET', '/nfts/collections/{collection_data_id_hash}/owners/list', 'getNFTOwnersOfCollection'],
  ]),
  ...unserved('', 'NFT Transfers', [
    ['GET', '/nfts/transfers', 'getNFTTransfersByIds'],
    ['GET', '/nfts/transfers/collections/{collection_data_id_hash}', 'getNFTTransfersByCollection'],
    ['GET', '/nfts/transfers/creators', 'getNFTTransfersByCreators'],
    ['GET', '/nfts/transfers/wallets', 'getNFTTransfersByWallets'],
  ]),
  ...unserved('', 'Wallets', [
    ['GET', '/wallets/nfts', 'getNFTByOwners'],
    ['GET', '/wallets/nfts/transfers', 'getWalletsNFTTransfers'],
  ]),
  ...unserved('', 'Accounts', [
    ['GET', '/accounts/{address}', 'getAccount'],
    ['GET', '/accounts/{address}/resources', 'getAccountResources'],
    ['GET', '/accounts/{address}/modules', 'getAccountModules'],
    // The hosted API has two operations on this path; the last segment decides between them.
    ['GET', '/accounts/{address}/resource/{resource_type}', 'getAccountResource, getAccountModule'],
  ]),
  ...unserved('', 'Events', [
    ['GET', '/accounts/{address}/events/{creation_number}', 'getEventsByCreationNumber'],
    ['GET', '/accounts/{address}/events/{event_handle}/{field_name}', 'getEventsByEventHandle'],
  ]),
  ...unserved('', 'Transactions', [
    ['GET', '/transactions', 'getTransactions'],
    ['POST', '/transactions', 'submitTransaction'],
    ['GET', '/transactions/by_hash/{txn_hash}', 'getTransactionByHash'],
    ['GET', '/transactions/by_version/{txn_version}', 'getTransactionByVersion'],
    ['GET', '/accounts/{address}/transactions', 'getAccountTransactions'],
    ['POST', '/transactions/batch', 'submitBatchTransactions'],
    ['POST', '/transactions/simulate', 'simulateTransaction'],
    ['POST', '/transactions/encode_submission', 'encodeSubmission'],
    ['GET', '/transactions/estimate_gas_price', 'estimateGasPrice'],
  ]),
  ...unserved('', 'Blocks', [
    ['GET', '/blocks/{block_height}', 'getBlockByHeight'],
    ['GET', '/blocks/by_version/{version}', 'getBlockByVersion'],
  ]),
];
