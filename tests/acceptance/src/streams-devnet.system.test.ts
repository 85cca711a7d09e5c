/** Webhooks of the running program over a real node: every field of every body is what the node says. Its role may change no schema. */

import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { deployMarket, type Market, type WebhookReceiver } from '@chainstead/testkit';
import { numberToHex, parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type NodeWebhook,
  readNodeBalance,
  readNodeTokenBalance,
  readNodeWebhook,
  type Watch,
} from './node-webhook.ts';
import { asRestrictedRole } from './restricted-role.ts';
import {
  type ArrivedWebhook,
  arrivedOf,
  awaitWebhook,
  CONFIRMATIONS,
  createStreamStage,
  type StreamStage,
  withSortedCauses,
} from './stream-stage.ts';

let stage: StreamStage;
let market: Market;
let receiver: WebhookReceiver;
let alice: Address;
let bob: Address;
let carol: Address;

beforeAll(async () => {
  stage = await createStreamStage(1_337_020, asRestrictedRole);
  market = await deployMarket(stage.devnet);
  receiver = await stage.receive();
  [alice, bob, carol] = stage.devnet.accounts.slice(5) as [Address, Address, Address];
});
afterAll(() => stage?.close());

interface Expected extends Watch {
  readonly blockNumber: bigint;
  /** Members that the stream's owner chose, or that are read in addition to the block. */
  readonly more?: Readonly<Partial<NodeWebhook>> & Readonly<Record<string, unknown>>;
}

/** Both webhooks of a block, compared with the node in every field. @returns the unconfirmed one */
async function expectBoth(id: string, { blockNumber, more = {}, ...watch }: Expected): Promise<ArrivedWebhook> {
  const owned = { streamId: id, tag: 'acceptance', abi: [], nativeBalances: [], retries: 0 };
  const said = { ...(await readNodeWebhook(stage.devnet, blockNumber, watch)), ...owned, ...more };
  const unconfirmed = await awaitWebhook(stage, receiver, id, { blockNumber, confirmed: false });
  expect(withSortedCauses(unconfirmed.parsed)).toEqual({ ...said, confirmed: false });
  await stage.devnet.mine(CONFIRMATIONS);
  const confirmed = await awaitWebhook(stage, receiver, id, { blockNumber, confirmed: true });
  expect(withSortedCauses(confirmed.parsed)).toEqual({ ...said, confirmed: true });
  const records = said.logs.length + said.txs.length + said.txsInternal.length;
  expect(records).toBeGreaterThan(0);
  expect(unconfirmed.headers).toMatchObject({ 'content-type': 'application/json', 'x-records-charged': '0' });
  expect(confirmed.headers).toMatchObject({ 'x-region': 'us-east-1', 'x-records-charged': String(records) });
  expect(confirmed.headers['webhook-id']).not.toBe(unconfirmed.headers['webhook-id']);
  return unconfirmed;
}

function transfer(to: Address, value: bigint, from = alice) {
  return { ...stage.token, functionName: 'transfer', args: [to, value], from };
}

async function mint(to: Address, value = 1_000_000_000n): Promise<void> {
  await stage.devnet.send({ ...stage.token, functionName: 'mint', args: [to, value] });
}

async function sendEther(from: Address, to: Address, ether: string): Promise<bigint> {
  const { client } = stage.devnet;
  const hash = await client.sendTransaction({ account: from, to, value: parseEther(ether), chain: null });
  const { blockNumber } = await client.waitForTransactionReceipt({ hash });
  return blockNumber;
}

describe('a stream tells what the node says of', () => {
  it('native transactions, of senders and receivers', async () => {
    const id = await stage.watch(receiver, { includeNativeTxs: true }, [alice, bob]);
    const blockNumber = await sendEther(alice, bob, '1.25');
    await expectBoth(id, { blockNumber, watched: [alice, bob], native: true });
    const creation = await stage.devnet.client.sendTransaction({
      account: bob,
      data: '0x6001600055',
      chain: null,
    });
    const created = await stage.devnet.client.waitForTransactionReceipt({ hash: creation });
    const { parsed } = await expectBoth(id, {
      blockNumber: created.blockNumber,
      watched: [alice, bob],
      native: true,
    });
    expect(parsed.txs).toMatchObject([{ toAddress: null, receiptContractAddress: created.contractAddress }]);
  });

  it('ERC-20 transfers and approvals, with names, symbols and decimals', async () => {
    const id = await stage.watch(receiver, { includeContractLogs: true }, [alice]);
    await mint(alice);
    const watch = { watched: [alice], logs: () => true };
    const moved = await stage.devnet.send(transfer(bob, 1_234_567n));
    const { parsed } = await expectBoth(id, { ...watch, blockNumber: moved.blockNumber });
    expect(parsed).toMatchObject({
      txs: [],
      erc20Transfers: [
        { tokenName: 'Test Dollar', tokenSymbol: 'TUSD', tokenDecimals: '6', valueWithDecimals: '1.234567' },
      ],
    });
    const approved = await stage.devnet.send({
      ...stage.token,
      functionName: 'approve',
      args: [carol, 2n ** 256n - 1n],
      from: alice,
    });
    const approval = await expectBoth(id, { ...watch, blockNumber: approved.blockNumber });
    expect(approval.parsed.erc20Approvals).toHaveLength(1);
  });

  it('NFTs of both standards: transfers, batches and approvals', async () => {
    const { cats, prints } = market;
    const id = await stage.watch(receiver, { includeContractLogs: true }, [carol]);
    const watch = { watched: [carol], logs: () => true };
    const expectNft = async (call: object): Promise<ArrivedWebhook> => {
      const { blockNumber } = await stage.devnet.send({ ...cats, functionName: 'mint', ...call });
      return expectBoth(id, { ...watch, blockNumber });
    };
    await expectNft({ args: [carol, 9_001n] });
    await expectNft({ functionName: 'approve', args: [bob, 9_001n], from: carol });
    await expectNft({ functionName: 'transferFrom', args: [carol, alice, 9_001n], from: carol });
    const batch = await expectNft({
      ...prints,
      functionName: 'mintBatch',
      args: [carol, [71n, 72n, 73n], [1n, 20n, 300n]],
    });
    expect(batch.parsed.nftTransfers).toMatchObject([{ amount: '1' }, { amount: '20' }, { amount: '300' }]);
    await expectNft({ ...prints, functionName: 'setApprovalForAll', args: [bob, true], from: carol });
  });

  it('internal transactions, and none of what moves no ether', async () => {
    const { wrappedEther } = market;
    const id = await stage.watch(receiver, { includeInternalTxs: true }, [bob]);
    await stage.devnet.send({ ...wrappedEther, functionName: 'deposit', value: 5_000n, from: bob });
    const withdraw = { ...wrappedEther, functionName: 'withdraw', args: [4_321n], from: bob };
    const { blockNumber } = await stage.devnet.send(withdraw);
    const { parsed } = await expectBoth(id, { blockNumber, watched: [bob], internal: true });
    expect(parsed.txsInternal).toMatchObject([{ from: wrappedEther.address, to: bob, value: '4321' }]);
  });

  it('what triggers read, and native balances, as of the block', async () => {
    const { address: token } = stage.token;
    const functionAbi = {
      type: 'function',
      name: 'balanceOf',
      stateMutability: 'view',
      inputs: [{ name: 'account', type: 'address' }],
      outputs: [{ name: 'held', type: 'uint256' }],
    };
    const config = {
      includeContractLogs: true,
      triggers: { type: 'erc20transfer', contractAddress: '$contract', functionAbi, inputs: ['$to'] },
      getNativeBalances: { type: 'erc20transfer', selectors: ['$from', '$to'] },
    };
    await mint(alice);
    const id = await stage.watch(receiver, config, [alice]);
    const { blockNumber } = await stage.devnet.send(transfer(bob, 4_004n));
    // Afterwards everything is another again.
    await stage.devnet.send(transfer(bob, 1n));
    await sendEther(bob, carol, '0.5');
    const said = await readNodeWebhook(stage.devnet, blockNumber, { watched: [alice], logs: () => true });
    const held = await readNodeTokenBalance(stage.devnet, token, bob, blockNumber);
    const erc20Transfers = said.erc20Transfers.map((item) => ({
      ...item,
      triggers: [{ name: 'held', value: String(held) }],
    }));
    const nativeBalances = [
      await readNodeBalance(stage.devnet, alice, blockNumber),
      await readNodeBalance(stage.devnet, bob, blockNumber),
    ];
    const more = { erc20Transfers, nativeBalances };
    await expectBoth(id, { blockNumber, watched: [alice], logs: () => true, more });
  });
});

it('jobs are done as a role that may change no schema', async () => {
  const read = () => stage.scratch.database.query(sql`SELECT FROM tokens WHERE facts_status = 'known'`);
  await expect.poll(async () => (await read()).length, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(stage.program.output()).not.toContain('permission denied');
});

describe('past blocks', () => {
  const config = { includeNativeTxs: true };
  const chainId = (): string => numberToHex(stage.devnet.chainId);

  it('are shown as a webhook that a configuration would cause, and sent by a stream that did not exist', async () => {
    const blockNumber = await sendEther(carol, bob, '0.004');
    await stage.untilFollowed(blockNumber);
    const said = await readNodeWebhook(stage.devnet, blockNumber, { watched: [carol], native: true });
    const path = `/streams/evm/${chainId()}/block/${blockNumber}`;
    const preview = await stage.ask('POST', path, { ...config, tag: 'shown', addresses: [carol] });
    expect(preview.status).toBe(200);
    const owned = { abi: [], nativeBalances: [], retries: 0, confirmed: false };
    expect(withSortedCauses(preview.body)).toEqual({ ...said, ...owned, tag: 'shown', streamId: '' });
    expect(await stage.ask('POST', path, { ...config, addresses: [stage.token.address] })).toEqual({
      status: 200,
      body: null,
    });

    const id = await stage.watch(receiver, config, [carol]);
    const sent = await stage.ask('POST', `/streams/evm/${chainId()}/block-to-webhook/${blockNumber}/${id}`);
    expect(sent).toEqual({ status: 200, body: null });
    const { parsed } = await awaitWebhook(stage, receiver, id, { blockNumber, confirmed: false });
    expect(withSortedCauses(parsed)).toEqual({ ...said, ...owned, tag: 'acceptance', streamId: id });
  });

  it('are replayed by a historical job, each that matches once and confirmed', async () => {
    const blocks = [await sendEther(alice, bob, '0.005'), await sendEther(alice, bob, '0.006')];
    await stage.devnet.mine(CONFIRMATIONS + 1);
    await stage.untilFollowed((blocks[1] ?? 0n) + BigInt(CONFIRMATIONS + 1));
    const id = await stage.watch(receiver, config, [alice]);
    const range = { blockFrom: Number(blocks[0]), blockTo: Number(blocks[1]) + 1 };
    const job = await stage.ask('POST', '/historicalJobs/createJob', {
      chainId: chainId(),
      streamId: id,
      ...range,
    });
    expect(job).toMatchObject({ status: 200, body: { totalBlocks: range.blockTo - range.blockFrom + 1 } });
    for (const blockNumber of blocks) {
      const said = await readNodeWebhook(stage.devnet, blockNumber, { watched: [alice], native: true });
      const { parsed } = await awaitWebhook(stage, receiver, id, { blockNumber, confirmed: true });
      const owned = { abi: [], nativeBalances: [], retries: 0, confirmed: true, tag: 'acceptance', streamId: id };
      expect(withSortedCauses(parsed)).toEqual({ ...said, ...owned });
    }
    expect(arrivedOf(stage, receiver, id)).toHaveLength(blocks.length);
  });
});
