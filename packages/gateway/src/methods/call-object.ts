import { type Check, isAbsent, isObject, mustBe } from './parameter.ts';
import { address, bytes, hash, listOf, quantity } from './values.ts';

/** Nesting that a chain's own members of a call, or overrides, may have. */
const DEPTH_MAX = 16;
const LIST_MAX = 10_000;

/** Members that a call may have: geth's TransactionArgs. Others (a chain's own, `type`) pass as they are. */
const MEMBERS: ReadonlyMap<string, Check> = new Map([
  ['from', address('from')],
  ['to', address('to')],
  ['gas', quantity('gas')],
  ['gasPrice', quantity('gasPrice')],
  ['maxFeePerGas', quantity('maxFeePerGas')],
  ['maxPriorityFeePerGas', quantity('maxPriorityFeePerGas')],
  ['maxFeePerBlobGas', quantity('maxFeePerBlobGas')],
  ['value', quantity('value')],
  ['nonce', quantity('nonce')],
  ['chainId', quantity('chainId')],
  ['data', bytes('data')],
  ['input', bytes('input')],
  ['blobVersionedHashes', listOf('blobVersionedHashes', hash('blobVersionedHashes'), LIST_MAX)],
  ['accessList', listOf('accessList', checkAccess, LIST_MAX)],
  ['authorizationList', listOf('authorizationList', objectOf('authorizationList'), LIST_MAX)],
]);

/** The transaction of eth_call, eth_estimateGas and eth_createAccessList. */
export const callObject: Check = (value) => {
  if (!isObject(value)) return mustBe('transaction', 'an object', value);
  for (const [name, member] of Object.entries(value)) {
    if (isAbsent(member)) continue;
    const check = MEMBERS.get(name);
    const problem = check === undefined ? tooDeep(name, member) : check(member);
    if (problem !== null) return problem;
  }
  return null;
};

const accountAddress = address('stateOverrides: an account');

/** Accounts and what of them is to be thought otherwise. */
export const stateOverrides: Check = (value) => {
  if (!isObject(value)) return mustBe('stateOverrides', 'an object', value);
  for (const account of Object.keys(value)) {
    const problem = accountAddress(account);
    if (problem !== null) return problem;
  }
  return tooDeep('stateOverrides', value);
};

export const blockOverrides: Check = (value) =>
  isObject(value) ? tooDeep('blockOverrides', value) : mustBe('blockOverrides', 'an object', value);

const accessAddress = address('accessList: address');
const storageKeys = listOf('accessList: storageKeys', hash('accessList: a storage key'), LIST_MAX);

function checkAccess(value: unknown): string | null {
  if (!isObject(value)) return mustBe('accessList: an entry', 'an object', value);
  return accessAddress(value.address) ?? (isAbsent(value.storageKeys) ? null : storageKeys(value.storageKeys));
}

function objectOf(name: string): Check {
  return (value) => (isObject(value) ? tooDeep(name, value) : mustBe(`${name}: an entry`, 'an object', value));
}

/** What is passed on unread is written as JSON again, which takes stack for each level. */
function tooDeep(name: string, value: unknown): string | null {
  return isDeeper(value, DEPTH_MAX) ? `${name} is nested deeper than ${DEPTH_MAX} levels` : null;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
