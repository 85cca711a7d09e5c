/** Parameters and cursors that operations on assets can't use. */
import { addressOf } from '@chainstead/testkit';
import type { TableRequest } from '../request-table.ts';
import {
  ASSET_OPERATIONS,
  type AssetOperation,
  assetOperation,
  COLLECTION,
  type ParameterKind,
  TOKEN,
  TRADE_OPERATIONS,
} from './asset-operations.ts';
import { bad, many, request } from './asset-request.ts';
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

type WrongValue = readonly [given: string, refusal: RefusalBody];

/** Values that are refused for what they are, each with what is allowed. */
const plainly =
  (allowed: string, ...values: readonly string[]) =>
  (parameter: string): readonly WrongValue[] =>
    values.map((given) => [given, mustBe(parameter, given, allowed)]);

const MARKETPLACES =
  'opensea, blur, looksrare, x2y2, 0xprotocol, cryptopunks, foundation, superrare, zora, rarible, element, magiceden, other or all';
const LONG_SYMBOL = 'x'.repeat(65);
const SYMBOL = 'a symbol of 1 to 64 characters';
const TOO_MANY = many(101).join();

const WRONG_TOKEN_IDS = [
  ...['x1', '-1', '1.5', '1e3', '0x', '0xg', ' ', '1 ', '+1', '0b1', '١'],
  ...[(2n ** 256n).toString(), `0x1${'0'.repeat(64)}`],
];

/** What a parameter of each kind can't be, whatever operation has it. */
const WRONG_VALUES: Readonly<Record<ParameterKind, (parameter: string) => readonly WrongValue[]>> = {
  addresses: (parameter) => [
    ['', invalidAddress(`${parameter}.0`, '')],
    ['null', invalidAddress(`${parameter}.0`, 'null')],
    [`${TOKEN},0x12`, invalidAddress(`${parameter}.1`, '0x12')],
    [TOO_MANY, tooMany(parameter, TOO_MANY)],
  ],
  symbols: (parameter) => [
    ['', mustBe(`${parameter}.0`, '', SYMBOL)],
    [`USDC,${LONG_SYMBOL}`, mustBe(`${parameter}.1`, LONG_SYMBOL, SYMBOL)],
    [TOO_MANY, tooMany(parameter, TOO_MANY)],
  ],
  block: plainly(BLOCK, '-1', 'latest', '9007199254740992'),
  cursor: (parameter) => [
    ['abc', mustBe(parameter, 'abc', CURSOR)],
    ['A'.repeat(8_193), mustBe(parameter, 'A'.repeat(8_193), 'a cursor that this server gave')],
  ],
  days: plainly('a whole number from 0 to 365', '366', '7.5', ''),
  marketplace: plainly(MARKETPLACES, 'sudoswap', '', 'opensea,blur', 'null'),
  date: plainly(DATE, '2024-02-30', 'tomorrow', '99999999999999999'),
  flag: plainly('true or false', 'maybe', '1'),
  format: plainly('decimal or hex', 'octal'),
  frame: plainly('one of 1min, 5min, 10min, 30min, 1h, 4h, 12h, 1d, 1w, 1m', '2h'),
  interval: plainly('one of 1d, 7d, 30d, 60d, 90d, 1y, all', '2d'),
  limit: plainly(limitUpTo(100), '0', '-1', 'abc'),
  wideLimit: plainly(limitUpTo(5_000), '0', '-1', 'abc'),
  number: plainly('a number from 0', '-1', 'much'),
  order: plainly('ASC or DESC', 'up'),
  part: plainly('a whole number from 1 to 100', '0', '101', 'x'),
};

/** Pairs of parameters of which the first may not be above the second, with values that are, as they are shown. */
const BOUNDS = [
  { from: 'from_block', to: 'to_block', given: ['9', '8'], shown: ['9', '8'] },
  ...[
    ['from_date', 'to_date'],
    ['fromDate', 'toDate'],
  ].map(([from = '', to = '']) => ({
    ...{ from, to, given: ['1700000100', '1700000000'] },
    shown: ['2023-11-14T22:15:00.000Z', '2023-11-14T22:13:20.000Z'],
  })),
];

/** Whose cursors the stage has, by their names there. */
const CURSORS_OF: Readonly<Record<string, string>> = {
  erc20: 'getTokenTransfers',
  nft: 'getNFTContractTransfers',
};

/** What every operation refuses, as far as it has it. */
function ofEvery(operation: AssetOperation): readonly TableRequest[] {
  const { address, needs = {}, parameters, path } = operation;
  const refused = (query: string, body: RefusalBody): TableRequest => request(operation, { query }, 400, body);
  const names = Object.keys(needs);
  return [
    refused('chain=nowhere', mustBe('chain', 'nowhere', CHAIN)),
    refused('chain=polygon', notIndexedChain('polygon')),
    refused('chain=eth&chain=0x1', onlyOnce('chain', ['eth', '0x1'])),
    ...(address === undefined
      ? []
      : [`0x${'1'.repeat(39)}`, 'vitalik.eth'].map((given) =>
          request(operation, { address: given }, 400, invalidAddress(address, given)),
        )),
    ...(path.includes('{token_id}') ? WRONG_TOKEN_IDS : []).map((given) =>
      request(operation, { tokenId: encodeURIComponent(given) }, 400, invalidTokenId(given)),
    ),
    ...(names.length > 1 ? [names, ...names.map((name) => [name])] : names.map((name) => [name])).map((without) =>
      request(operation, { without }, 400, required(...without)),
    ),
    ...Object.entries(parameters).flatMap(([parameter, kind]) =>
      WRONG_VALUES[kind](parameter).map(([given, body]) => refused(`${parameter}=${given}`, body)),
    ),
    ...BOUNDS.filter(({ from, to }) => from in parameters && to in parameters).map(({ from, to, given, shown }) =>
      refused(
        `${from}=${given[0]}&${to}=${given[1]}`,
        mustBe(from, shown[0] ?? '', `at most ${to} (${shown[1]})`),
      ),
    ),
    ...Object.entries('cursor' in parameters ? CURSORS_OF : {}).flatMap(([cursor, owner]) =>
      owner === operation.name
        ? []
        : [refused(`cursor={${cursor}}`, mustBe('cursor', `{${cursor}Shown}`, CURSOR))],
    ),
  ];
}

/** Further refusals of single operations, for several parameters together. */
const TOGETHER: readonly TableRequest[] = [
  bad('getWalletTokenBalances', 'to_block=5&to_block=6', onlyOnce('to_block', ['5', '6'])),
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
  bad('getContractNFTs', 'totalRanges=2&range=3', mustBe('range', 3, 'a whole number from 1 to totalRanges (2)')),
  bad('getContractNFTs', 'totalRanges=2', {
    message: 'range is required: which of the 2 parts, from 1',
    details: { errors: [{ parameter: 'range', allowed: 'which of the 2 parts, from 1' }] },
  }),
  bad('getContractNFTs', 'range=1', {
    message: 'totalRanges is required: in how many parts range counts',
    details: { errors: [{ parameter: 'totalRanges', allowed: 'in how many parts range counts' }] },
  }),
];

const OTHER = addressOf(0x07e5);
const inCursor = (parameter: string, given: string | number, value: unknown): RefusalBody =>
  mustBe(parameter, given, `${JSON.stringify(value)} as in the cursor, or left out`);

/** Cursors of the same list, changed, or with members that they don't have: {@link TOKEN}'s transfers have neither bounds nor a special order. */
const CHANGED_CURSORS: readonly TableRequest[] = [
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
  request(
    assetOperation('getNFTContractTransfers'),
    { query: 'cursor={nft}&format=hex', address: COLLECTION },
    400,
    inCursor('format', 'hex', 'decimal'),
  ),
];

export const BAD_PARAMETERS: readonly TableRequest[] = [
  ...[...ASSET_OPERATIONS, ...TRADE_OPERATIONS].flatMap(ofEvery),
  ...TOGETHER,
  ...CHANGED_CURSORS,
];
