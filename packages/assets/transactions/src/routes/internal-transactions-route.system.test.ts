/** Calls inside transactions, as a devnet traces them in both styles, over a real socket. */
import { type Hash, parseAddress, parseHash, ZERO_ADDRESS } from '@chainstead/core';
import { compileSolidity, hashOf, requestNode } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { type Abi, type Address, encodeDeployData, type TransactionReceipt } from 'viem';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTransactionStage, type TransactionStage } from '../testing/transaction-stage.ts';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Child {
  constructor(bool fails) payable { if (fails) { new Empty(); revert("no child"); } }
  function end(address payable heir) external { selfdestruct(heir); }
}
contract Empty {}
contract Library { function note() external payable returns (uint256) { return address(this).balance; } }
contract Payer {
  address public last;
  Library library_ = new Library();
  constructor() payable {}
  receive() external payable {}
  function pay(address payable to, uint256 value) public { (bool ok,) = to.call{value: value}(""); require(ok); }
  function payAndRevert(address payable to) external { pay(to, 1); revert("no"); }
  function mixed(address payable to) external {
    pay(to, 10);
    try this.payAndRevert(to) {} catch {}
    (bool ok,) = address(library_).delegatecall(abi.encodeCall(Library.note, ())); require(ok);
    this.last();
    ecrecover(0, 27, bytes32(uint256(1)), bytes32(uint256(2)));
    pay(to, 11);
  }
  function foundAndEnd(address payable heir) external { Child made = new Child{value: 30}(false); made.end(heir); last = address(made); }
  function failToFound() external { try new Child{value: 5}(true) {} catch {} }
  function failWhole(address payable to) external { pay(to, 40); revert("whole"); }
}`;
const HEIR = parseAddress('0x00000000000000000000000000000000000000d1');

const opened = stageOfFile(() => openTransactionStage(2));
let payer: { readonly address: Address; readonly abi: Abi };
let library: Address;
let sent: Readonly<Record<string, TransactionReceipt>>;

beforeAll(async () => {
  const { devnet } = opened.stage;
  const contract = (await compileSolidity({ 'Payer.sol': SOURCE })).get('Payer');
  if (contract === undefined) throw new Error('There is no contract Payer');
  const [from = ZERO_ADDRESS] = devnet.accounts;
  const { client } = devnet;
  const data = encodeDeployData({ abi: contract.abi, bytecode: contract.bytecode, args: [] });
  const creation = await client.sendTransaction({ account: from, data, value: 1_000n, chain: null });
  const founded = await client.waitForTransactionReceipt({ hash: creation });
  payer = { address: parseAddress(founded.contractAddress), abi: contract.abi };
  const call = async (functionName: string, args: readonly unknown[] = []) => {
    const request = { ...payer, functionName, args, account: from, chain: null, gas: 1_000_000n };
    return client.waitForTransactionReceipt({ hash: await client.writeContract(request) });
  };
  sent = {
    creation: founded,
    mixed: await call('mixed', [HEIR]),
    foundAndEnd: await call('foundAndEnd', [HEIR]),
    failToFound: await call('failToFound'),
    failWhole: await call('failWhole', [HEIR]),
    plain: await client.waitForTransactionReceipt({
      hash: await client.sendTransaction({ account: from, to: HEIR, value: 5n, chain: null }),
    }),
  };
  const made = (await framesOf(receiptOf('creation'))).calls?.[0]?.to;
  library = parseAddress(made);
  await opened.stage.commit();
});
beforeEach(() => opened.reset());

interface Frame {
  readonly to?: string;
  readonly calls?: readonly Frame[];
}

async function framesOf({ transactionHash }: TransactionReceipt): Promise<Frame> {
  const params = [transactionHash, { tracer: 'callTracer' }];
  return (await requestNode(opened.stage.devnet.url, 'debug_traceTransaction', params)) as Frame;
}

function receiptOf(name: string): TransactionReceipt {
  const receipt = sent[name];
  if (receipt === undefined) throw new Error(`Nothing was sent as ${name}`);
  return receipt;
}

type Alter = TransactionStage['stage']['node']['alter'];
const NO_SUCH_METHOD = { error: { code: -32601, message: 'Method not found' } };

function alterAll(alter: Alter): void {
  for (const node of [opened.stage.node, ...opened.stage.others]) node.alter = alter;
}

/** Nodes that have only one style of traces, or none. */
const without =
  (...methods: readonly string[]): Alter =>
  ({ method }) =>
    methods.some((one) => method.startsWith(one)) ? NO_SUCH_METHOD : undefined;

interface Shown {
  readonly type: string;
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly error: string | null;
  readonly reverted?: true;
}

async function internalOf(name: string): Promise<readonly Shown[]> {
  const { status, body } = await opened.ask(
    `transaction/${receiptOf(name).transactionHash}/internal-transactions`,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Shown[];
}

const brief = (shown: readonly Shown[]) =>
  shown.map(({ type, from, to, value, error, reverted = false }) => [type, from, to, value, error, reverted]);

describe('internal transactions', () => {
  test('are the calls below the outermost one in the order of execution, without precompiled contracts', async () => {
    const { address } = payer;
    expect(brief(await internalOf('mixed'))).toEqual([
      ['CALL', address, HEIR, '10', null, false],
      ['CALL', address, address, '0', 'execution reverted', false],
      ['CALL', address, HEIR, '1', null, true],
      ['DELEGATECALL', address, library, '0', null, false],
      ['STATICCALL', address, address, '0', null, false],
      ['CALL', address, HEIR, '11', null, false],
    ]);
  });

  test('have the fields of their kind, as numbers and texts', async () => {
    const { transactionHash, blockNumber, blockHash } = receiptOf('mixed');
    const { body } = await opened.ask(`transaction/${transactionHash}/internal-transactions`);
    const frames = (await framesOf(receiptOf('mixed'))).calls as unknown as Record<string, string>[];
    expect((body as unknown[])[0]).toEqual({
      transaction_hash: transactionHash,
      block_number: Number(blockNumber),
      block_hash: blockHash,
      type: 'CALL',
      from: payer.address,
      to: HEIR,
      value: '10',
      gas: BigInt(frames[0]?.gas ?? 0).toString(),
      gas_used: BigInt(frames[0]?.gasUsed ?? 0).toString(),
      input: '0x',
      output: '0x',
      error: null,
    });
    expect((body as { input: string; output: string }[])[4]).toMatchObject({
      input: '0x47799da8',
      output: `0x${'0'.repeat(64)}`,
    });
  });

  test('name the contract that was made, and who got the coins of one that ended', async () => {
    const child = parseAddress(
      await opened.stage.devnet.client.readContract({ ...payer, functionName: 'last', args: [] }),
    );
    expect(brief(await internalOf('foundAndEnd'))).toEqual([
      ['CREATE', payer.address, child, '30', null, false],
      ['CALL', payer.address, child, '0', null, false],
      ['SELFDESTRUCT', child, HEIR, '30', null, false],
    ]);
    expect(brief(await internalOf('creation'))).toEqual([['CREATE', payer.address, library, '0', null, false]]);
  });

  test('have an address even for a creation that failed: the one at which its code ran', async () => {
    const [failed, inner] = await internalOf('failToFound');
    expect(failed).toMatchObject({ type: 'CREATE', value: '5', error: 'execution reverted' });
    expect(failed?.to).toBe(inner?.from);
    expect(inner).toMatchObject({ type: 'CREATE', error: null, reverted: true });
  });

  test('of a transaction that failed are there, marked as reverted; of one without calls there are none', async () => {
    expect(brief(await internalOf('failWhole'))).toEqual([['CALL', payer.address, HEIR, '40', null, true]]);
    expect(await internalOf('plain')).toEqual([]);
  });

  test.each(['mixed', 'foundAndEnd', 'failToFound', 'failWhole', 'creation', 'plain'])(
    'of %s are the same from either style of tracer, and beside the block they are in',
    async (name) => {
      alterAll(without('trace_'));
      const framed = await internalOf(name);
      const { transactionHash, blockNumber } = receiptOf(name);
      const block = (await opened.ask(`block/${blockNumber}?include=internal_transactions`)).body;
      await opened.reset();
      alterAll(without('debug_'));
      const flat = await internalOf(name);
      const flatBlock = (await opened.ask(`block/${blockNumber}?include=internal_transactions`)).body;
      expect(flat).toEqual(framed);
      expect(flatBlock).toEqual(block);
      const inBlock = Object(block).transactions.find(({ hash }: { hash: Hash }) => hash === transactionHash);
      expect(inBlock.internal_transactions).toEqual(framed);
      expect(Object(block).indexed).toEqual({ traces: 'on-demand' });
    },
  );

  test('are included on demand in both forms of a transaction, and traced once', async () => {
    const { transactionHash } = receiptOf('mixed');
    const path = `transaction/${transactionHash}`;
    const alone = await internalOf('mixed');
    const traces = () =>
      opened.stage.node.received.filter(({ method }) => method === 'debug_traceTransaction').length;
    const before = traces();
    for (const form of [path, `${path}/verbose`]) {
      const { body } = await opened.ask(`${form}?include=internal_transactions`);
      expect(body).toMatchObject({ internal_transactions: alone, indexed: { traces: 'on-demand' } });
      expect((await opened.ask(form)).body).not.toHaveProperty('internal_transactions');
    }
    expect(traces()).toBe(before);
  });

  test('of a chain without traces are null where they are included, and a refusal where they alone are asked for', async () => {
    alterAll(without('trace_', 'debug_'));
    const { transactionHash, blockNumber } = receiptOf('mixed');
    expect(await opened.ask(`transaction/${transactionHash}/internal-transactions`)).toMatchObject({
      status: 400,
      body: { message: 'no node of eth gives traces', details: { reason: 'no-traces' } },
    });
    const none = { indexed: { traces: 'none' } };
    for (const form of ['', '/verbose']) {
      const { body } = await opened.ask(`transaction/${transactionHash}${form}?include=internal_transactions`);
      expect(body).toMatchObject({ internal_transactions: null, ...none });
    }
    const { body } = await opened.ask(`block/${blockNumber}?include=internal_transactions`);
    expect(body).toMatchObject({ transactions: [{ internal_transactions: null }], ...none });
  });

  test('of a transaction that nobody knows are 404', async () => {
    expect(await opened.ask(`transaction/${hashOf(9, 9)}/internal-transactions`)).toMatchObject({
      status: 404,
      body: { message: 'Transaction not found' },
    });
  });
});

describe('a tracer that lies', () => {
  type Json = Record<string, unknown> & { calls: Json[] };
  const LIES: Readonly<Record<string, (frame: Json) => object | null>> = {
    'gives nothing': () => null,
    'alters the value': (frame) => ({ ...frame, value: '0x9' }),
    'lets somebody else pay': (frame) => ({
      ...frame,
      calls: frame.calls.map((call) => ({ ...call, from: HEIR })),
    }),
  };

  async function lieOf(name: string): Promise<Alter> {
    const frame = (await framesOf(receiptOf('mixed'))) as unknown as Json;
    return ({ method }) =>
      method === 'debug_traceTransaction' ? { result: LIES[name]?.(frame) ?? null } : undefined;
  }

  test.each(Object.keys(LIES))('and %s is not believed: the other one is', async (name) => {
    const honest = await internalOf('mixed');
    const lie = await lieOf(name);
    for (const liar of [opened.stage.node, ...opened.stage.others]) {
      await opened.reset();
      liar.alter = lie;
      expect(await internalOf('mixed')).toEqual(honest);
    }
  });

  test('is not believed where there is no other: 503', async () => {
    alterAll(await lieOf('gives nothing'));
    const answer = await opened.ask(`transaction/${receiptOf('mixed').transactionHash}/internal-transactions`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
  });
});

describe('the official SDK', () => {
  test('reads internal transactions alone, and in a transaction and a block', async () => {
    const { transaction, block } = opened.sdk.EvmApi;
    const { transactionHash, blockNumber } = receiptOf('foundAndEnd');
    const alone = await transaction.getInternalTransactions({ chain: '0x1', transactionHash });
    expect(alone.result.map(({ type, value }) => [type, value.toString()])).toEqual([
      ['CREATE', '30'],
      ['CALL', '0'],
      ['SELFDESTRUCT', '30'],
    ]);
    const include = 'internal_transactions';
    const one = await transaction.getTransaction({ chain: '0x1', transactionHash, include });
    expect(one?.result.internalTransactions).toHaveLength(3);
    const whole = await block.getBlock({ chain: '0x1', blockNumberOrHash: String(blockNumber), include });
    expect(whole?.result.transactions[0]?.internalTransactions).toHaveLength(3);
  });

  test('takes null for none, where no node gives traces', async () => {
    alterAll(without('trace_', 'debug_'));
    const transactionHash = parseHash(receiptOf('mixed').transactionHash);
    const include = 'internal_transactions';
    const one = await opened.sdk.EvmApi.transaction.getTransaction({ chain: '0x1', transactionHash, include });
    expect(one?.result.hash).toBe(transactionHash);
  });
});
