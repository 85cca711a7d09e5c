import { blockOverrides, callObject, stateOverrides } from './call-object.ts';
import { logFilter } from './log-filter.ts';
import {
  address,
  block,
  blockOrHash,
  boolean,
  bytes,
  type Check,
  hash,
  isNumberText,
  listOf,
  type MethodParameter,
  mapOf,
  mustBe,
  number64,
  shown,
} from './values.ts';

const STORAGE_KEY_DIGITS_MAX = 64;
const STORAGE_KEYS_MAX = 1_024;
const PERCENTILES_MAX = 200;

export const ADDRESS: MethodParameter = { name: 'address', check: address('address') };
export const BLOCK_HASH: MethodParameter = { name: 'blockHash', check: hash('blockHash') };
export const TRANSACTION_HASH: MethodParameter = { name: 'transactionHash', check: hash('transactionHash') };
export const BLOCK_NUMBER: MethodParameter = { name: 'blockNumber', check: block('blockNumber') };
export const INDEX: MethodParameter = { name: 'index', check: number64('index') };
/** Some nodes require the flag. */
export const FULL_TRANSACTIONS: MethodParameter = {
  name: 'fullTransactions',
  check: boolean('fullTransactions'),
  isOptional: true,
  fill: false,
};
/** Absent: the newest block. Newer nodes fill it in, older ones return their own error. */
export const STATE_BLOCK: MethodParameter = { name: 'block', check: blockOrHash('block'), isOptional: true };
export const RECEIPTS_BLOCK: MethodParameter = { name: 'block', check: blockOrHash('block') };
export const TRANSACTION: MethodParameter = { name: 'transaction', check: callObject };
export const STATE_OVERRIDES: MethodParameter = {
  name: 'stateOverrides',
  check: stateOverrides,
  isOptional: true,
};
export const BLOCK_OVERRIDES: MethodParameter = {
  name: 'blockOverrides',
  check: blockOverrides,
  isOptional: true,
};
export const FILTER: MethodParameter = { name: 'filter', check: logFilter };
export const RAW_TRANSACTION: MethodParameter = { name: 'rawTransaction', check: rawTransaction };
export const STORAGE_KEY: MethodParameter = { name: 'storageKey', check: storageKey };
export const STORAGE_KEYS: MethodParameter = {
  name: 'storageKeys',
  check: listOf('storageKeys', storageKey, STORAGE_KEYS_MAX),
};
export const STORAGE_REQUEST: MethodParameter = {
  name: 'request',
  check: mapOf('request', address('request'), listOf('request', storageKey, STORAGE_KEYS_MAX)),
};
export const BLOCK_COUNT: MethodParameter = { name: 'blockCount', check: blockCount };
export const NEWEST_BLOCK: MethodParameter = { name: 'newestBlock', check: block('newestBlock') };
export const PERCENTILES: MethodParameter = {
  name: 'rewardPercentiles',
  check: listOf('rewardPercentiles', percentile, PERCENTILES_MAX),
  isOptional: true,
  fill: [],
};

export const SUBSCRIPTION: MethodParameter = { name: 'subscription', check: text('subscription') };
export const SUBSCRIPTION_OPTIONS: MethodParameter = {
  name: 'options',
  check: (value) => (typeof value === 'boolean' ? null : logFilter(value)),
  isOptional: true,
};
export const ID: MethodParameter = {
  name: 'id',
  check: (value) =>
    typeof value === 'string' && ID_TEXT.test(value) ? null : mustBe('id', '0x and up to 64 hex digits', value),
};

const ID_TEXT = /^0x[\da-f]{0,64}$/i;

const TEXT_LENGTH_MAX = 100;

function text(name: string): Check {
  return (value) =>
    typeof value === 'string' && value.length <= TEXT_LENGTH_MAX ? null : mustBe(name, 'a short text', value);
}

const signedBytes = bytes('rawTransaction');

function rawTransaction(value: unknown): string | null {
  return value === '0x' ? 'rawTransaction is empty' : signedBytes(value);
}

function storageKey(value: unknown): string | null {
  if (typeof value !== 'string') return mustBe('storage key', 'hexadecimal text', value);
  const digits = /^0[xX]/.test(value) ? value.slice(2) : value;
  if (!/^[0-9a-fA-F]*$/.test(digits)) return `invalid hex in storage key: ${shown(value)}`;
  if (digits.length > STORAGE_KEY_DIGITS_MAX)
    return `storage key too long (want at most 32 bytes): ${shown(value)}`;
  return null;
}

function blockCount(value: unknown): string | null {
  const isRight = isNumberText(typeof value === 'number' ? String(value) : value);
  return isRight ? null : mustBe('blockCount', 'a hexadecimal or decimal number', value);
}

function percentile(value: unknown): string | null {
  if (typeof value === 'number' && value >= 0 && value <= 100) return null;
  return mustBe('rewardPercentiles: a percentile', 'a number from 0 to 100', value);
}
