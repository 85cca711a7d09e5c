import { createChainRegistry } from '@chainstead/chains';
import {
  type Address,
  createMetricsRegistry,
  parseAddress,
  parseHash,
  type Receipt,
  silentLogger,
  ZERO_HASH,
} from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import {
  type CompiledContract,
  compileSolidity,
  createScriptedChain,
  type Devnet,
  requestNode,
  serveScriptedChain,
  startDevnet,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { InternalTransfer } from '../../dataset/whole-block.ts';
import { executedTransactions } from '../executed-transactions.ts';
import { internalTransfers, readWatchedBlock, type WatchedReader } from '../read-watched-block.ts';
import { callsOfFlatTraces } from './call-frames.ts';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Child { constructor() payable {} function end(address payable heir) external { selfdestruct(heir); } }
contract Payer {
  address public last;
  constructor() payable {}
  receive() external payable {}
  function pay(address payable to, uint256 value) public { (bool ok,) = to.call{value: value}(""); require(ok); }
  function payTwiceAndRevert(address payable to) external { pay(to, 1); pay(to, 2); revert("no"); }
  /// A subtree that is reverted, between two that are not; a call without value.
  function mixed(address payable to) external {
    pay(to, 10);
    try this.payTwiceAndRevert(to) {} catch {}
    (bool ok,) = to.call(""); require(ok);
    pay(to, 11);
  }
  /// Creation and end in one transaction, so that the account really goes (EIP-6780).
  function foundAndEnd(address payable heir) external { Child made = new Child{value: 30}(); made.end(heir); last = address(made); }
  function failWhole(address payable to) external { pay(to, 40); revert("whole"); }
}`;
const CHAIN_ID = 940_001;
const CHAIN = createChainRegistry({ additional: [{ key: 'traced', id: CHAIN_ID }] }).get(CHAIN_ID);
const HEIR = parseAddress('0x00000000000000000000000000000000000000d1');

let devnet: Devnet;
let reader: WatchedReader;
let payer: { readonly address: Address; readonly abi: CompiledContract['abi'] };

beforeAll(async () => {
  devnet = await startDevnet({ chainId: CHAIN_ID });
  reader = await readerOf(devnet.url);
  const contract = (await compileSolidity({ 'Payer.sol': SOURCE })).get('Payer');
  if (contract === undefined) throw new Error('There is no contract Payer');
  payer = { address: await devnet.deploy(contract), abi: contract.abi };
  const [from] = devnet.accounts;
  await devnet.client.sendTransaction({ account: from ?? null, to: payer.address, value: 1_000n, chain: null });
});
afterAll(async () => {
  await reader.pool.close();
  await devnet.stop();
});

async function readerOf(url: string): Promise<WatchedReader & { readonly pool: UpstreamPool }> {
  const logger = silentLogger();
  const pool = createUpstreamPool({
    chain: CHAIN,
    upstreams: [{ url }],
    logger,
    metrics: createMetricsRegistry(),
  });
  await pool.start();
  return { pool, chain: CHAIN, policy: 'record', logger };
}

const NEEDS = { transactions: true, internalTransfers: true };

/** Calls the function and returns the transfers of its block. */
async function transfersOf(functionName: string, args: readonly unknown[] = []) {
  const { blockNumber } = await devnet.send({ ...payer, functionName, args });
  const block = await readWatchedBlock(reader, Number(blockNumber), NEEDS);
  if (block === null || block.internalTransfers === null) throw new Error('The block is not available');
  const traces = await requestNode(devnet.url, 'trace_block', [block.header.raw.number]);
  const executed = new Set(block.receipts.map(({ transactionHash }: Receipt) => transactionHash));
  return {
    framed: block.internalTransfers,
    flat: internalTransfers(callsOfFlatTraces(traces, { chain: CHAIN.key, hash: block.header.hash, executed })),
  };
}

const plain = (transfers: readonly InternalTransfer[]) =>
  transfers.map(({ from, to, value }) => ({ from, to, value }));

describe('internal transfers of a node', () => {
  it('are those of calls that were not reverted, from either form of traces', async () => {
    const { framed, flat } = await transfersOf('mixed', [HEIR]);
    const expected = [10n, 11n].map((value) => ({ from: payer.address, to: HEIR, value }));
    expect(plain(framed)).toEqual(expected);
    expect(plain(flat)).toEqual(expected);
    expect(framed.every(({ gas }) => gas !== null && gas > 0n)).toBe(true);
  });

  it('are those of creations and of contracts that end', async () => {
    const { framed, flat } = await transfersOf('foundAndEnd', [HEIR]);
    const child = parseAddress(await devnet.client.readContract({ ...payer, functionName: 'last' }));
    const expected = [
      { from: payer.address, to: child, value: 30n },
      { from: child, to: HEIR, value: 30n },
    ];
    expect(plain(framed)).toEqual(expected);
    expect(plain(flat)).toEqual(expected);
  });

  it('are none of a transaction that failed, and not what the transaction itself sends', async () => {
    const [from] = devnet.accounts;
    const call = { ...payer, account: from ?? null, chain: null, gas: 200_000n };
    const failed = await devnet.client.writeContract({ ...call, functionName: 'failWhole', args: [HEIR] });
    const sent = await devnet.client.sendTransaction({ account: from ?? null, to: HEIR, value: 5n, chain: null });
    for (const hash of [failed, sent]) {
      const { blockNumber } = await devnet.client.waitForTransactionReceipt({ hash });
      const block = await readWatchedBlock(reader, Number(blockNumber), NEEDS);
      expect(block?.block.transactionHashes).toContain(hash);
      expect(block?.internalTransfers).toEqual([]);
    }
  });
});

describe('whole blocks of a node', () => {
  const whole = async (blockNumber: bigint) => {
    const parts = new Set(['transactions', 'internalTransactions'] as const);
    const needs = { transactions: false, internalTransfers: false };
    const block = await readWatchedBlock({ ...reader, parts }, Number(blockNumber), needs);
    if (block === null) throw new Error('The block is not available');
    return block;
  };

  it('hold every call with its place, the same from either form of traces', async () => {
    const { blockNumber } = await devnet.send({ ...payer, functionName: 'mixed', args: [HEIR] });
    const block = await whole(blockNumber);
    expect(block.parts.internalTransactions).toEqual({ level: 'not-applicable', reason: null });
    const calls = block.internalTransactions ?? [];
    const [hash] = block.block.transactionHashes;
    expect(calls.every(({ transactionHash }) => transactionHash === hash)).toBe(true);
    const facts = (some: typeof calls) =>
      some.map(({ traceAddress, type, from, to, value, isReverted }) => [
        traceAddress.join('.'),
        type,
        from,
        to,
        value,
        isReverted,
      ]);
    expect(facts(calls)).toEqual([
      ['0', 'CALL', payer.address, HEIR, 10n, false],
      ['1', 'CALL', payer.address, payer.address, 0n, true],
      ['1.0', 'CALL', payer.address, HEIR, 1n, true],
      ['1.1', 'CALL', payer.address, HEIR, 2n, true],
      ['2', 'CALL', payer.address, HEIR, 0n, false],
      ['3', 'CALL', payer.address, HEIR, 11n, false],
    ]);
    const traces = await requestNode(devnet.url, 'trace_block', [block.header.raw.number]);
    const flat = callsOfFlatTraces(traces, {
      chain: CHAIN.key,
      hash: block.header.hash,
      executed: new Set([hash ?? ZERO_HASH]),
    });
    expect(facts(flat.filter(({ traceAddress }) => traceAddress.length > 0))).toEqual(facts(calls));
  });

  it.each([
    ['legacy ones', 0, { gasPrice: '0x3b9aca00' }],
    ['those with access lists', 1, { gasPrice: '0x3b9aca00', accessList: [] }],
    ['those with dynamic fees', 2, { maxFeePerGas: '0x3b9aca00', maxPriorityFeePerGas: '0x1' }],
  ])('prove their transactions, with what came of them: %s', async (_what, type, fees) => {
    const [from] = devnet.accounts;
    // The node responds before it has mined: without the wait, two transactions could share a block.
    const send = async (call: object) => {
      const request = { from, gas: '0x186a0', ...fees, ...call };
      const hash = parseHash(await requestNode(devnet.url, 'eth_sendTransaction', [request]));
      return devnet.client.waitForTransactionReceipt({ hash });
    };
    const sent = await send({ to: HEIR, value: '0x7' });
    const failed = await send({ to: payer.address, data: '0xdeadbeef' });
    const created = await send({ data: '0x60006000f3' });
    for (const [receipt, succeeded] of [
      [sent, true],
      [failed, false],
      [created, true],
    ] as const) {
      const block = await whole(receipt.blockNumber);
      expect(block.parts.transactions).toEqual({ level: 'receipts', reason: null });
      const [executed] = executedTransactions(block);
      expect(executed).toMatchObject({
        hash: receipt.transactionHash,
        from,
        succeeded,
        gasUsed: receipt.gasUsed,
        type,
      });
      expect(executed?.contractAddress).toBe(receipt.contractAddress?.toLowerCase() ?? null);
    }
  });
});

describe('a node without traces', () => {
  it('gives blocks without internal transfers', async () => {
    const scripted = createScriptedChain({ seed: 3, chainId: CHAIN_ID, emptyShare: 0 });
    scripted.mine(2);
    const node = await serveScriptedChain(scripted);
    onTestFinished(() => node.close());
    const own = await readerOf(node.url);
    onTestFinished(() => own.pool.close());
    const block = await readWatchedBlock(own, 2, NEEDS);
    expect(block?.block.transactions).toHaveLength(scripted.blockAt(2)?.transactions.length ?? 0);
    expect(block?.internalTransfers).toEqual([]);
  });
});
