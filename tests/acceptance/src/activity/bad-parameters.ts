/** Parameters, segments and cursors that operations of what happened can't use. */
import {
  BLOCK,
  CHAIN,
  CURSOR,
  DATE,
  invalidAddress,
  limitUpTo,
  mustBe,
  notIndexedChain,
  onlyOnce,
  type RefusalBody,
  required,
  tooMany,
} from '../assets/refusals.ts';
import type { TableRequest } from '../request-table.ts';
import {
  ACTIVITY_OPERATIONS,
  type ActivityOperation,
  HASH,
  type ParameterKind,
  type SegmentKind,
  WALLET,
} from './activity-operations.ts';
import { refused, request } from './bad-request.ts';

const TRANSACTION = 'a transaction hash (0x and 64 hexadecimal digits)';
const PLACE =
  'a block number (a whole number from 0 to 9007199254740991, decimal or hexadecimal with 0x), a block hash (0x and 64 hexadecimal digits), latest, safe, finalized or earliest';
const PLACE_OR_PENDING = PLACE.replace('finalized or earliest', 'finalized, earliest or pending');
const TOPIC = 'a topic (0x and 64 hexadecimal digits)';
const DOMAIN = 'a name that ENSIP-15 normalises, such as vitalik.eth';
const ADDRESS = 'a hexadecimal address (0x and 40 digits)';

type WrongValue = readonly [given: string, refusal: RefusalBody];

/** Values that are refused for what they are, each with what is allowed. */
const plainly =
  (allowed: string, ...values: readonly string[]) =>
  (parameter: string): readonly WrongValue[] =>
    values.map((given) => [given, mustBe(parameter, given, allowed)]);

/** Characters that no URL may have: a NUL, half of a surrogate pair, a lone percent sign. */
const WRONG_URLS = [
  ['%00', 'URL must not contain a NUL character (%00)'],
  ['%ED%A0%80', 'URL has a malformed percent-encoding'],
  ['%zz', 'URL has a malformed percent-encoding'],
] as const;

const MANY_CHAINS = Array(101).fill('eth').join();
const DATES = ['never', '2024-13-01', '2023-02-30', '-5', '1.5', '99999999999999999', '9'.repeat(400)];

/** What a parameter of each kind can't be, whatever operation has it. */
const WRONG_VALUES: Readonly<Record<ParameterKind, (parameter: string) => readonly WrongValue[]>> = {
  block: plainly(BLOCK, '-1', '1.5', 'latest', '9007199254740992', '99999999999999999'),
  chains: (parameter) => [
    ['nowhere', mustBe(`${parameter}.0`, 'nowhere', CHAIN)],
    ['', mustBe(`${parameter}.0`, '', CHAIN)],
    ['eth,0x1,nowhere', mustBe(`${parameter}.2`, 'nowhere', CHAIN)],
    ['polygon', notIndexedChain('polygon')],
    [MANY_CHAINS, tooMany(parameter, MANY_CHAINS)],
  ],
  closest: plainly('nearest, before or after', 'exact', ''),
  currency: plainly('eth or 0x1', 'btc', '', '0x89'),
  cursor: (parameter) => [
    ['eyJ', mustBe(parameter, 'eyJ', CURSOR)],
    ['A'.repeat(8_193), mustBe(parameter, 'A'.repeat(8_193), 'a cursor that this server gave')],
    ['{cursor}', mustBe(parameter, '{cursorShown}', CURSOR)],
  ],
  date: plainly(DATE, ...DATES),
  dateToFind: plainly(DATE, 'yesterday', '', ...DATES),
  flag: plainly('true or false', 'yes', '', '1'),
  include: plainly('internal_transactions', 'logs', 'internal', 'internal_transactions,logs'),
  includeLogs: plainly('logs', 'internal_transactions', 'log', 'logs,labels'),
  limit: plainly(limitUpTo(100), '0', '-1', 'ten', '1.5'),
  offset: plainly('a whole number from 0 to 10000', '-1', '10001', 'x'),
  order: plainly('ASC or DESC', 'newest'),
  place: plainly(PLACE_OR_PENDING, 'newest', '-1', '1.5', '0x', '99999999999999999', `0x${'0'.repeat(63)}`),
  topic: plainly(TOPIC, '', '0x12', `0x${'g'.repeat(64)}`, HASH.slice(2), `${HASH}0`),
};

const ADDRESSES = ['0x', '0x12', `${WALLET}0`, `0x${'g'.repeat(40)}`];

/** As operations with a specific text refuse them. */
const invalidAddresses = (parameter: string, message: string): readonly WrongValue[] =>
  ADDRESSES.map((given) => [given, { message, details: { errors: [{ parameter, given, allowed: ADDRESS }] } }]);

/** What a segment of the path can't be. */
const WRONG_SEGMENTS: Readonly<Record<SegmentKind, (name: string) => readonly WrongValue[]>> = {
  account: (name) => invalidAddresses(name, 'address is not a valid hex address'),
  contract: (name) => invalidAddresses(name, 'Invalid address provided'),
  address: (name) => ADDRESSES.map((given) => [given, invalidAddress(name, given)]),
  chain: plainly(CHAIN, 'nowhere', '0xg', '99999999999999999999'),
  domain: plainly(DOMAIN, '.eth', 'a..eth', 'a b.eth'),
  hash: plainly(
    TRANSACTION,
    ...['0x', '0x12', HASH.slice(0, -1), `${HASH}0`, HASH.slice(2), `0x${'g'.repeat(64)}`],
    ...['latest', '1', "0x' OR 1=1--", 'a'.repeat(200)],
  ),
  place: plainly(
    PLACE,
    ...['-1', '1.5', '1e9', 'pending', 'newest', '0x', '0xg', '9007199254740992', '99999999999999999999'],
    ...[HASH.slice(0, -1), `${HASH}0`, "1' OR '1'='1"],
  ),
};

/** Pairs of parameters of which the first may not be above the second, with values that are, as they are shown. */
const BOUNDS = [
  { from: 'from_block', to: 'to_block', given: ['9', '8'], reported: ['9', '8'] },
  {
    ...{ from: 'from_date', to: 'to_date', given: ['1700000100', '1700000000'] },
    reported: ['2023-11-14T22:15:00.000Z', '2023-11-14T22:13:20.000Z'],
  },
];

const encoded = (given: string): string =>
  given.startsWith('{') ? given : encodeURIComponent(given).replaceAll('%2C', ',');

/** What every operation refuses, as far as it has it. */
function ofEvery(operation: ActivityOperation): readonly TableRequest[] {
  const { segment, parameters, isOfChain = false } = operation;
  const bad = (query: string, body: RefusalBody): TableRequest => request(operation, { query }, 400, body);
  return [
    ...WRONG_URLS.map(([given, message]) =>
      segment === undefined
        ? bad(`any=${given}`, { message })
        : request(operation, { it: given }, 400, { message }),
    ),
    ...(isOfChain
      ? [
          ...['nowhere', '', '0xg', '\ufffd', '😀', '-1', '99999999999999999999', 'e'.repeat(300)].map((given) =>
            bad(`chain=${encoded(given)}`, mustBe('chain', given, CHAIN)),
          ),
          // For a contract a node is called, whether its chain is indexed or not.
          ...(operation.name === 'runContractFunction' ? [] : [bad('chain=polygon', notIndexedChain('polygon'))]),
          bad('chain=eth&chain=base', onlyOnce('chain', ['eth', 'base'])),
        ]
      : []),
    ...(segment === undefined ? [] : WRONG_SEGMENTS[segment.kind](segment.name)).map(([given, body]) =>
      request(operation, { it: encoded(given) }, 400, body),
    ),
    ...Object.entries(parameters).flatMap(([parameter, kind]) => [
      ...WRONG_VALUES[kind](parameter).map(([given, body]) => bad(`${parameter}=${encoded(given)}`, body)),
      ...(kind === 'chains' ? [] : [bad(`${parameter}=1&${parameter}=2`, onlyOnce(parameter, ['1', '2']))]),
    ]),
    ...BOUNDS.filter(({ from, to }) => from in parameters && to in parameters).map(
      ({ from, to, given, reported }) =>
        bad(
          `${from}=${given[0]}&${to}=${given[1]}`,
          mustBe(from, reported[0] ?? '', `at most ${to} (${reported[1]})`),
        ),
    ),
  ];
}

/** Several problems are reported together. */
const TOGETHER: readonly TableRequest[] = [
  refused('runContractFunction', { withoutNeeds: true }, required('function_name')),
  refused(
    'getDateToBlock',
    { query: 'date=never&closest=exact&chain=nowhere' },
    together(
      mustBe('chain', 'nowhere', CHAIN),
      mustBe('date', 'never', DATE),
      mustBe('closest', 'exact', 'nearest, before or after'),
    ),
  ),
];

function together(...refusals: readonly RefusalBody[]): RefusalBody {
  const errors = refusals.flatMap(({ details }) => Object(details).errors as readonly object[]);
  return { message: refusals.map(({ message }) => message).join(', '), details: { errors } };
}

export const BAD_PARAMETERS: readonly TableRequest[] = [...ACTIVITY_OPERATIONS.flatMap(ofEvery), ...TOGETHER];
