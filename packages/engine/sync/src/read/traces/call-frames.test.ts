import type { Hash } from '@chainstead/core';
import { describe, expect, it } from 'vitest';
import { internalTransfers } from '../read-watched-block.ts';
import { callsOfFlatTraces, callsOfFrames } from './call-frames.ts';

const A = `0x${'aa'.repeat(20)}`;
const B = `0x${'bb'.repeat(20)}`;
const TX = [`0x${'01'.repeat(32)}`, `0x${'02'.repeat(32)}`] as Hash[];
const BLOCK = `0x${'cc'.repeat(32)}` as Hash;
const frame = (changes: object = {}) => ({
  type: 'CALL',
  from: A,
  to: B,
  value: '0x1',
  gas: '0x5208',
  ...changes,
});
const framesOf = (json: unknown) => internalTransfers(callsOfFrames(json, { hashes: TX, executed: new Set(TX) }));
const values = (json: unknown) => framesOf(json).map(({ value }) => value);

describe('traces of calls', () => {
  it('leave out what moves no value to another account', () => {
    const calls = [
      frame({ type: 'DELEGATECALL' }),
      frame({ type: 'CALLCODE' }),
      frame({ type: 'STATICCALL', value: undefined }),
      frame({ value: '0x0', calls: [frame({ value: '0x7' })] }),
      frame({ error: 'execution reverted', calls: [frame({ value: '0x8' })] }),
      frame({ type: 'SELFDESTRUCT', value: '0x9', gas: '0x0' }),
    ];
    expect(framesOf([{ result: frame({ calls }) }, { result: frame() }])).toEqual([
      { transactionHash: TX[0], from: A, to: B, value: 7n, gas: 21_000n },
      { transactionHash: TX[0], from: A, to: B, value: 9n, gas: null },
    ]);
  });

  it('belong to the transactions that they name, in any order', () => {
    const named = TX.map((txHash, index) => ({
      txHash,
      result: frame({ calls: [frame({ value: `0x${index + 1}` })] }),
    }));
    expect(framesOf(named.toReversed()).map(({ transactionHash, value }) => [transactionHash, value])).toEqual([
      [TX[1], 2n],
      [TX[0], 1n],
    ]);
  });

  it.each<[string, unknown]>([
    ['no list', {}],
    ['a transaction of another block', [{ txHash: BLOCK, result: frame() }]],
    ['one too few without hashes', [{ result: frame() }]],
    ['one too few', [{ txHash: TX[0], result: frame() }]],
    ['a transaction that could not be traced', TX.map((txHash) => ({ txHash, error: 'missing state' }))],
    ['a value that is none', TX.map((txHash) => ({ txHash, result: frame({ calls: [frame({ value: 'x' })] }) }))],
  ])('are refused with %s', (_what, json) => {
    expect(() => values(json)).toThrow();
  });
});

describe('flat traces', () => {
  const trace = (traceAddress: number[], changes: object = {}) => ({
    type: 'call',
    action: { callType: 'call', from: A, to: B, value: '0x1', gas: '0x5208' },
    traceAddress,
    transactionHash: TX[0],
    blockHash: BLOCK,
    ...changes,
  });
  const flat = (json: unknown) =>
    internalTransfers(callsOfFlatTraces(json, { chain: 'test', hash: BLOCK, executed: new Set(TX.slice(0, 1)) }));

  it('leave out the transaction itself, rewards, and what is below a failed call', () => {
    const reward = { type: 'reward', action: { author: A, value: '0x5' }, traceAddress: [], blockHash: BLOCK };
    const json = [
      trace([]),
      trace([0], { error: 'Reverted' }),
      trace([0, 0]),
      trace([1]),
      trace([1, 0], { action: { callType: 'delegatecall', from: A, to: B, value: '0x3', gas: '0x1' } }),
      trace([10]),
      reward,
    ];
    expect(flat(json)).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ['of another block', [trace([], { blockHash: TX[1] })]],
    ['without a transaction', []],
    ['without a place', [trace([], { traceAddress: undefined })]],
  ])('are refused %s', (_what, json) => {
    expect(() => flat(json)).toThrow();
  });
});
