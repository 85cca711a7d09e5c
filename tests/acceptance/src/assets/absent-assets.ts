/** Missing assets, blocks below and above the indexed ones, and limits that mean the maximum. */

import type { TableRequest } from '../request-table.ts';
import { ASSET_OPERATIONS, assetOperation, COLLECTION, TOKEN } from './asset-operations.ts';
import { answered, missing, posted, request } from './asset-request.ts';
import { INDEXED_FROM, NO_CONTRACT, NO_NFT, NOBODY, READ_COLLECTION } from './asset-stage.ts';
import { notThere } from './refusals.ts';

const NO_LISTINGS = notThere(
  "Floor prices come from marketplaces' listings, which are not on the chain",
  'no-listings',
);
const TRAITS_PENDING = { message: 'Contract is being resynced at the moment. Please try again later.' };
const NOT_ARCHIVED = notThere('Balances at block 1 need an archive node', 'not-archived');
const INDEXED = { from_block: `${INDEXED_FROM}`, to_block: '{head}' };
const nothingOf = (first: number, complete: boolean) => ({
  page: first,
  page_size: 100,
  cursor: null,
  indexed: { ...INDEXED, complete },
  result: [],
});
const none = { address: NOBODY };
const named = { query: `token_addresses=${TOKEN}&to_block=1` };

export const ABSENT_ASSETS: readonly TableRequest[] = [
  missing('getNFTFloorPriceByContract', {}, NO_LISTINGS),
  missing('getNFTFloorPriceByToken', { tokenId: '0x1' }, NO_LISTINGS),
  missing('getNFTHistoricalFloorPriceByContract', { query: 'interval=1y' }, NO_LISTINGS),
  missing(
    'getNFTMetadata',
    { address: NO_CONTRACT },
    notThere(`${NO_CONTRACT} is not a contract on eth`, 'not-contract'),
  ),
  missing('getNFTMetadata', { address: NO_NFT }, notThere(`${NO_NFT} is not an NFT contract on eth`, 'not-nft')),
  missing(
    'getNFTMetadata',
    { address: READ_COLLECTION, tokenId: '77' },
    notThere(`Token 77 of ${READ_COLLECTION} was not found`, 'not-found'),
  ),
  request(assetOperation('getWalletApprovals'), none, 400, {
    message:
      'Dataset erc20-approvals is not indexed here: add it to DATASETS (DATASETS=erc20-approvals,…) and restart',
    details: { reason: 'not-indexed', configuration_key: 'DATASETS' },
  }),
  missing('getWalletTokenBalances', named, NOT_ARCHIVED),
  missing('getWalletTokenBalancesPrice', named, NOT_ARCHIVED),
  missing('getNativeBalance', { query: 'to_block=1' }, NOT_ARCHIVED),
  missing('getNativeBalancesForAddresses', { query: 'to_block=1' }, NOT_ARCHIVED),
  ...['{head}', '{beyond}'].flatMap((block) => [
    answered(
      'getNativeBalance',
      { ...none, query: `to_block=${block}` },
      { balance: '0', block_number: '{head}' },
    ),
    answered('getWalletTokenBalances', { ...none, query: `to_block=${block}` }, []),
    answered('getNativeBalancesForAddresses', { query: `to_block=${block}` }, [
      {
        chain: 'eth',
        chain_id: '0x1',
        total_balance: '0',
        total_balance_formatted: '0',
        block_number: '{head}',
        block_timestamp: '{headTime}',
        wallet_balances: [{ address: TOKEN, balance: '0', balance_formatted: '0' }],
      },
    ]),
  ]),
  answered('getTokenTransfers', { query: 'to_block=2' }, nothingOf(0, false)),
  answered('getTokenTransfers', { query: 'from_block={beyond}' }, nothingOf(0, false)),
  answered('getTokenTransfers', { ...none, query: 'limit=101' }, nothingOf(0, false)),
  answered(
    'getNFTContractTransfers',
    { address: COLLECTION, query: 'to_block=2' },
    {
      ...nothingOf(0, false),
      block_exists: true,
      index_complete: false,
    },
  ),
  answered(
    'getTokenOwners',
    { ...none, query: 'limit=101' },
    {
      ...nothingOf(1, false),
      total_supply: null,
      usd_value_limit: null,
    },
  ),
  answered('getTokenStats', none, { transfers: { total: '0' }, indexed: { ...INDEXED, complete: false } }),
  answered('getTokenMetadataBySymbol', { query: 'symbols=NOBODYS' }, []),
  answered(
    'getUniqueOwnersByCollection',
    { ...none, query: 'limit=5001' },
    {
      page: 1,
      pageSize: 5_000,
      cursor: null,
      indexed: { ...INDEXED, complete: false },
      walletAddresses: [],
    },
  ),
  request(assetOperation('getTokenHolders'), none, 202, {
    message: 'Holders of this token are being counted. Please try again later.',
  }),
  answered('getHistoricalTokenHolders', none, {
    page: 1,
    pageSize: 100,
    cursor: null,
    indexed: { ...INDEXED, complete: false },
    result: [],
  }),
  answered('getNFTCollectionStats', none, {
    total_tokens: '0',
    owners: { current: '0' },
    transfers: { total: '0' },
    indexed: { ...INDEXED, complete: false },
  }),
  ...['getNFTTraitsByCollection', 'getNFTTraitsByCollectionPaginate', 'getNFTByContractTraits'].map((name) =>
    request(assetOperation(name), none, 202, TRAITS_PENDING),
  ),
  posted('getMultipleNFTs', { tokens: [{ token_address: NO_CONTRACT, token_id: '1' }] }, 200, [null]),
  posted('getNFTBulkContractMetadata', { addresses: [NO_CONTRACT, NO_NFT] }, 200, []),
  ...['erc20', 'balance', 'nft'].map((last): TableRequest => {
    const path = `/${TOKEN}/${last}`;
    const operation = ASSET_OPERATIONS.find((one) => one.path === `/{address}/${last}`)?.name ?? last;
    const allowed = ['GET', 'HEAD'];
    const message = `Method DELETE is not allowed on /api/v2.2${path}: use GET, HEAD`;
    return {
      operation,
      method: 'DELETE',
      path,
      status: 405,
      body: { message, details: { method: 'DELETE', allowed } },
    };
  }),
];
