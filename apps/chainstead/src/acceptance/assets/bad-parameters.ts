/** Parameters and cursors that operations on assets can't use. */
import { addressOf } from '@chainstead/testkit';
import { ASSET_OPERATIONS, type AssetOperation, assetOperation, COLLECTION, TOKEN } from './asset-operations.ts';
import { type AssetRequest, bad, bare, many, request } from './asset-request.ts';
import {
  BLOCK,
  CHAIN,
  CURSOR,
  DATE,
  invalidAddress,
  invalidTokenId,
  limitUpTo,
  mustBe,
  notIndexedChain,
  onlyOnce,
  type RefusalBody,
  required,
  tooMany,
} from './refusals.ts';

/** What every operation refuses, as far as it has it. */
function ofEvery(operation: AssetOperation): readonly AssetRequest[] {
  const { address, limit, hasOrder, flags = [], hasFormat, list, blocks = [], dates = [], path } = operation;
  const refused = (query: string, body: unknown): AssetRequest => request(operation, { query }, 400, body);
  const isOfToken = path.includes('{token_id}');
  return [
    refused('chain=nowhere', mustBe('chain', 'nowhere', CHAIN)),
    refused('chain=polygon', notIndexedChain('polygon')),
    refused('chain=eth&chain=0x1', onlyOnce('chain', ['eth', '0x1'])),
    ...(address === undefined
      ? []
      : [`0x${'1'.repeat(39)}`, 'vitalik.eth'].map((given) =>
          request(operation, { address: given }, 400, invalidAddress(address, given)),
        )),
    ...(isOfToken
      ? ['x1', '-1', (2n ** 256n).toString()].map((given) =>
          request(operation, { tokenId: given }, 400, invalidTokenId(given)),
        )
      : []),
    ...(limit === undefined
      ? []
      : [
          ...['0', '-1', 'abc'].map((given) => refused(`limit=${given}`, mustBe('limit', given, limitUpTo(limit)))),
          refused('cursor=abc', mustBe('cursor', 'abc', CURSOR)),
          operation.name === 'getTokenTransfers'
            ? refused('cursor={nft}', mustBe('cursor', '{nftShown}', CURSOR))
            : refused('cursor={erc20}', mustBe('cursor', '{erc20Shown}', CURSOR)),
        ]),
    ...(hasOrder === true ? [refused('order=up', mustBe('order', 'up', 'ASC or DESC'))] : []),
    ...(hasFormat === true ? [refused('format=octal', mustBe('format', 'octal', 'decimal or hex'))] : []),
    ...flags.map((flag) => refused(`${flag}=maybe`, mustBe(flag, 'maybe', 'true or false'))),
    ...(list === undefined || operation.needs !== undefined
      ? []
      : [
          refused(`${list}=${TOKEN},0x12`, invalidAddress(`${list}.1`, '0x12')),
          refused(`${list}=${many(101).join()}`, tooMany(list, many(101).join())),
        ]),
    ...blocks.flatMap((block) =>
      ['-1', 'latest'].map((given) => refused(`${block}=${given}`, mustBe(block, given, BLOCK))),
    ),
    ...dates.map((date) => refused(`${date}=2024-02-30`, mustBe(date, '2024-02-30', DATE))),
  ];
}

const FROM_ABOVE_TO = mustBe('from_block', '9', 'at most to_block (8)');
const OTHER = addressOf(0x07e5);
const inCursor = (parameter: string, given: string | number, value: unknown): RefusalBody =>
  mustBe(parameter, given, `${JSON.stringify(value)} as in the cursor, or left out`);

const PARAMETERS: readonly AssetRequest[] = [
  bad('getWalletTokenBalances', 'to_block=9007199254740992', mustBe('to_block', '9007199254740992', BLOCK)),
  bad('getWalletTokenBalances', 'to_block=5&to_block=6', onlyOnce('to_block', ['5', '6'])),
  bad(
    'getWalletTokenBalancesPrice',
    'max_token_inactivity=-1',
    mustBe('max_token_inactivity', '-1', 'a number from 0'),
  ),
  bad(
    'getWalletTokenBalancesPrice',
    'min_pair_side_liquidity_usd=much',
    mustBe('min_pair_side_liquidity_usd', 'much', 'a number from 0'),
  ),
  bad('getWalletTokenBalancesPrice', 'limit=1&limit=2', onlyOnce('limit', ['1', '2'])),
  bad('getWalletTokenBalancesPrice', 'limit=0&exclude_spam=maybe', {
    message:
      'exclude_spam must be true or false, "maybe" was given, limit must be a whole number from 1 (above 100 means 100), "0" was given',
    details: {
      errors: [
        { parameter: 'exclude_spam', given: 'maybe', allowed: 'true or false' },
        { parameter: 'limit', given: '0', allowed: 'a whole number from 1 (above 100 means 100)' },
      ],
    },
  }),
  bare('getTokenMetadata', 'chain=eth', required('addresses')),
  bare('getTokenMetadata', 'addresses=', invalidAddress('addresses.0', '')),
  bare('getTokenMetadata', `addresses=${many(101).join()}`, tooMany('addresses', many(101).join())),
  bare('getTokenMetadataBySymbol', 'chain=eth', required('symbols')),
  bare('getTokenMetadataBySymbol', 'symbols=', mustBe('symbols.0', '', 'a symbol of 1 to 64 characters')),
  bare(
    'getTokenMetadataBySymbol',
    `symbols=USDC,${'x'.repeat(65)}`,
    mustBe('symbols.1', 'x'.repeat(65), 'a symbol of 1 to 64 characters'),
  ),
  bare('getTokenMetadataBySymbol', `symbols=${many(101).join()}`, tooMany('symbols', many(101).join())),
  bare('getNativeBalancesForAddresses', 'chain=eth', required('wallet_addresses')),
  bare('getNativeBalancesForAddresses', 'wallet_addresses=null', invalidAddress('wallet_addresses.0', 'null')),
  bare(
    'getNativeBalancesForAddresses',
    `wallet_addresses=${many(101).join()}`,
    tooMany('wallet_addresses', many(101).join()),
  ),
  bad('getTokenTransfers', 'from_block=9&to_block=8', FROM_ABOVE_TO),
  bad('getWalletNFTTransfers', 'from_block=9&to_block=8', FROM_ABOVE_TO),
  bad('getNFTContractTransfers', 'from_block=9&to_block=8', FROM_ABOVE_TO),
  bad(
    'getTokenTransfers',
    'from_date=1700000100&to_date=1700000000',
    mustBe('from_date', '2023-11-14T22:15:00.000Z', 'at most to_date (2023-11-14T22:13:20.000Z)'),
  ),
  bad('getTokenTransfers', 'from_date=tomorrow', mustBe('from_date', 'tomorrow', DATE)),
  bad('getNFTContractTransfers', 'to_date=99999999999999999', mustBe('to_date', '99999999999999999', DATE)),
  bare('getHistoricalTokenHolders', 'timeFrame=1h', required('fromDate', 'toDate')),
  bare('getHistoricalTokenHolders', 'fromDate=1', required('toDate')),
  bare('getHistoricalTokenHolders', 'fromDate=soon&toDate=2', mustBe('fromDate', 'soon', DATE)),
  bare(
    'getHistoricalTokenHolders',
    'fromDate=1700000000&toDate=1600000000',
    mustBe('fromDate', '2023-11-14T22:13:20.000Z', 'at most toDate (2020-09-13T12:26:40.000Z)'),
  ),
  bare(
    'getHistoricalTokenHolders',
    'fromDate=1&toDate=2&timeFrame=2h',
    mustBe('timeFrame', '2h', 'one of 1min, 5min, 10min, 30min, 1h, 4h, 12h, 1d, 1w, 1m'),
  ),
  ...['0', '101', 'x'].map((given) =>
    bad(
      'getContractNFTs',
      `totalRanges=${given}&range=1`,
      mustBe('totalRanges', given, 'a whole number from 1 to 100'),
    ),
  ),
  bad('getContractNFTs', 'totalRanges=2&range=3', mustBe('range', 3, 'a whole number from 1 to totalRanges (2)')),
  bad('getContractNFTs', 'totalRanges=2', {
    message: 'range is required: which of the 2 parts, from 1',
    details: { errors: [{ parameter: 'range', allowed: 'which of the 2 parts, from 1' }] },
  }),
  bad('getContractNFTs', 'range=1', {
    message: 'totalRanges is required: in how many parts range counts',
    details: { errors: [{ parameter: 'totalRanges', allowed: 'in how many parts range counts' }] },
  }),
  bad(
    'getNFTHistoricalFloorPriceByContract',
    'interval=2d',
    mustBe('interval', '2d', 'one of 1d, 7d, 30d, 60d, 90d, 1y, all'),
  ),
];

/** Of the cursor of {@link TOKEN}'s transfers, which has neither bounds nor an order of its own. */
const CURSORS: readonly AssetRequest[] = [
  bad('getTokenTransfers', 'cursor={cut}', mustBe('cursor', '{erc20Shown}', CURSOR)),
  bad('getTokenTransfers', 'cursor={erc20}AAAA', mustBe('cursor', '{erc20Shown}', CURSOR)),
  bad('getTokenTransfers', 'cursor={erc20}&chain=base', inCursor('chain', 'base', 'eth')),
  bad('getTokenTransfers', 'cursor={erc20}&order=ASC', inCursor('order', 'ASC', 'DESC')),
  bad('getTokenTransfers', 'cursor={erc20}&to_block=5', inCursor('to_block', 5, null)),
  bad('getTokenTransfers', 'cursor={erc20}&from_date=5', inCursor('from_date', 5_000, null)),
  request(
    assetOperation('getTokenTransfers'),
    { query: 'cursor={erc20}', address: OTHER },
    400,
    inCursor('address', OTHER, TOKEN),
  ),
  bad(
    'getTokenTransfers',
    `cursor=${'A'.repeat(8_193)}`,
    mustBe('cursor', 'A'.repeat(8_193), 'a cursor that this server gave'),
  ),
  request(
    assetOperation('getNFTContractTransfers'),
    { query: 'cursor={nft}&format=hex', address: COLLECTION },
    400,
    inCursor('format', 'hex', 'decimal'),
  ),
  request(
    assetOperation('getNFTTransfers'),
    { query: 'cursor={nft}', address: COLLECTION },
    400,
    mustBe('cursor', '{nftShown}', CURSOR),
  ),
  request(
    assetOperation('getWalletNFTTransfers'),
    { query: 'cursor={nft}' },
    400,
    mustBe('cursor', '{nftShown}', CURSOR),
  ),
];

export const BAD_PARAMETERS: readonly AssetRequest[] = [
  ...ASSET_OPERATIONS.flatMap(ofEvery),
  ...PARAMETERS,
  ...CURSORS,
];
