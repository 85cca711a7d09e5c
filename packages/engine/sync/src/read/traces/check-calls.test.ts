import { parseAddress, parseHash } from '@chainstead/core';
import { expect, test } from 'vitest';
import type { InternalTransaction } from '../../dataset/whole-block.ts';
import { type CheckableTransaction, checkCalls } from './check-calls.ts';

const HASH = parseHash(`0x${'a1'.repeat(32)}`);
const SENDER = parseAddress(`0x${'11'.repeat(20)}`);
const RECIPIENT = parseAddress(`0x${'22'.repeat(20)}`);
const OTHER = parseAddress(`0x${'33'.repeat(20)}`);

const TRANSACTION: CheckableTransaction = {
  hash: HASH,
  type: 2,
  from: SENDER,
  to: RECIPIENT,
  value: 5n,
  succeeded: true,
  contractAddress: null,
  input: '0xABCD',
};
const ROOT: InternalTransaction = {
  transactionHash: HASH,
  traceAddress: [],
  type: 'CALL',
  from: SENDER,
  to: RECIPIENT,
  value: 5n,
  gas: 21_000n,
  gasUsed: 21_000n,
  input: '0xabcd',
  output: '0x',
  error: null,
  isReverted: false,
};
const CALL = { ...ROOT, traceAddress: [0], from: OTHER, to: OTHER, value: 9n };

test.each<[string, Partial<InternalTransaction>, Partial<CheckableTransaction>]>([
  ['a call', {}, {}],
  ['a failed call', { error: 'reverted' }, { succeeded: false }],
  ['a call whose outcome is unknown', { error: 'reverted' }, { succeeded: null }],
  ['a creation', { to: OTHER }, { to: null, contractAddress: OTHER }],
  ['a failed creation', { to: null, error: 'reverted' }, { to: null, contractAddress: OTHER, succeeded: false }],
  ['a transaction of a type of the chain', { value: 6n }, { type: 5 }],
])('accepts %s', (_, root, transaction) => {
  expect(() => checkCalls([CALL, { ...ROOT, ...root }], [{ ...TRANSACTION, ...transaction }])).not.toThrow();
});

test.each<[string, Partial<InternalTransaction>, Partial<CheckableTransaction>]>([
  ['sender', { from: OTHER }, {}],
  ['recipient', { to: OTHER }, {}],
  ['recipient', { to: RECIPIENT }, { to: null, contractAddress: OTHER }],
  ['value', { value: 6n }, {}],
  ['value', { value: 6n }, { type: 4 }],
  ['input', { input: '0xabce' }, {}],
  ['outcome', { error: 'reverted' }, {}],
  ['outcome', {}, { succeeded: false }],
])('refuses another %s', (wrong, root, transaction) => {
  expect(() => checkCalls([{ ...ROOT, ...root }, CALL], [{ ...TRANSACTION, ...transaction }])).toThrow(
    `The trace of ${HASH} has another ${wrong} than the transaction`,
  );
});

test('compares no input that is not known', () => {
  const { input, ...rest } = TRANSACTION;
  expect(() => checkCalls([{ ...ROOT, input: '0x00' }], [rest])).not.toThrow();
  expect(() => checkCalls([{ ...ROOT, input: '0x00' }], [{ ...rest, input: input ?? '0x' }])).toThrow(
    'another input',
  );
});

// Invariant: PROOF-TRACES
test('refuses a transaction without a trace of itself', () => {
  expect(() => checkCalls([CALL], [TRANSACTION])).toThrow(`There is no trace of ${HASH} itself`);
});
