import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Hash, parseChainId } from '@chainstead/core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startedPool } from './testing/test-pool.ts';
import type { UpstreamPool } from './upstream-pool.ts';

const ANVIL = join(import.meta.dirname, '../../../../node_modules/.bin/anvil');
const CHAIN = { id: parseChainId(31337), key: 'devnet' };
const TOPIC = `0x${'dd'.repeat(32)}` as Hash;
/** Init code that emits one log with TOPIC and leaves an empty contract: PUSH32 topic, PUSH1 0, PUSH1 0, LOG1, STOP. */
const EMIT = `0x7f${TOPIC.slice(2)}60006000a100`;

let anvil: ChildProcess;
let url: string;

beforeAll(async () => {
  // The package's launcher starts the binary as its child. One process group lets the test end both.
  anvil = spawn(ANVIL, ['--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  if (anvil.stdout === null) throw new Error('anvil has no output');
  for await (const line of createInterface(anvil.stdout)) {
    const address = /Listening on (\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    url = `http://${address}`;
    break;
  }
  anvil.stdout.resume();
});

afterAll(async () => {
  if (anvil.pid === undefined || anvil.exitCode !== null) return;
  process.kill(-anvil.pid, 'SIGKILL');
  await once(anvil, 'exit');
});

async function emit(pool: UpstreamPool, times: number): Promise<void> {
  const accounts = (await pool.request('eth_accounts', [])).value as string[];
  for (let index = 0; index < times; index++) {
    const { value: hash } = await pool.request('eth_sendTransaction', [
      { from: accounts[0], data: EMIT, gas: '0x30d40' },
    ]);
    // The node returns the hash before it mines the block; a second transaction sent meanwhile may land in the same
    // block.
    await vi.waitFor(
      async () => expect((await pool.request('eth_getTransactionReceipt', [hash])).value).not.toBeNull(),
      { timeout: 10_000, interval: 5 },
    );
  }
}

test('a real node: heads, whole blocks, logs and receipts agree', async () => {
  const pool = await startedPool([{ url }], { chain: CHAIN });
  await emit(pool, 5);
  const head = await pool.getHead();
  expect(head.value.number).toBe(5);
  const { logs } = await pool.getLogs({ range: { from: 0, to: 5 }, topics: [TOPIC] });
  expect(logs.map((log) => log.blockNumber)).toEqual([1, 2, 3, 4, 5]);
  for (const log of logs) {
    const whole = await pool.getWholeBlock(log.blockHash, { transactions: true });
    expect(whole?.value.block.header.number).toBe(log.blockNumber);
    expect(whole?.value.receipts.flatMap((receipt) => receipt.logs)).toMatchObject([
      { ...log, blockTimestamp: expect.anything() },
    ]);
  }
  const headers = await pool.getHeaders([5, 3, 1]);
  expect(headers[1]?.value.hash).toBe(logs[2]?.blockHash);
  expect(pool.status()[0]?.capabilities).toMatchObject({ blockReceipts: true, batch: true });
  expect(pool.status()[0]?.faults).toEqual({});
});

test('a real node: a reorganisation of the same height is noticed', async () => {
  const pool = await startedPool([{ url }], { chain: CHAIN });
  await emit(pool, 3);
  const before = await pool.getHead();
  const next = pool.waitForHead(before.value, AbortSignal.timeout(20_000));
  await pool.request('anvil_reorg', [2, []]);
  const after = await next;
  expect(after.value.hash).not.toBe(before.value.hash);
  expect((await pool.getBlock(after.value.number))?.value.header.hash).toBe(after.value.hash);
  expect(await pool.getBlock(before.value.hash)).toBeNull();
});

test('a real node: reverts and unknown methods are errors of the call', async () => {
  const pool = await startedPool([{ url }], { chain: CHAIN });
  // Creation code that reverts immediately: PUSH1 0, PUSH1 0, REVERT.
  await expect(pool.request('eth_call', [{ data: '0x60006000fd' }, 'latest'])).rejects.toMatchObject({
    code: 'RPC_CALL',
  });
  await expect(pool.request('eth_thereIsNoSuchThing', [])).rejects.toMatchObject({
    code: 'RPC_CALL',
    rpcCode: -32601,
  });
});

/** One wei from the first account of the test mnemonic, its first transaction. */
const SIGNED =
  '0x02f869827a6980018502540be4008252089435353535353535353535353535353535353535350180c001a023a6d48c8784fe3f3ddf764e1b61e26510d550866cac7ddcdc4dec7fddf69b34a029c252cdaf1ade7b067cfa96ac302df3a836fe9adc2e69b7a5eda51689748ca2';

test('a real node: a broadcast transaction is mined under the hash that was answered, and known the second time', async () => {
  const pool = await startedPool([{ url }], { chain: CHAIN });
  const { value: snapshot } = await pool.request('evm_snapshot', []);
  await pool.request('anvil_setNonce', ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', '0x0']);
  await pool.request('evm_setAutomine', [false]);
  const { value: hash } = await pool.broadcast(SIGNED);
  expect((await pool.broadcast(SIGNED)).value).toBe(hash);
  await pool.request('evm_mine', []);
  const receipt = {
    method: 'eth_getTransactionReceipt',
    params: JSON.stringify([hash]),
    nullable: true,
    block: null,
  };
  const { value } = await pool.forward(receipt);
  expect(JSON.parse(String(value))).toMatchObject({ transactionHash: hash, status: '0x1' });
  await expect(pool.broadcast(`${SIGNED.slice(0, -2)}00`)).rejects.toMatchObject({ code: 'RPC_CALL' });
  await pool.request('evm_setAutomine', [true]);
  await pool.request('evm_revert', [snapshot]);
});
