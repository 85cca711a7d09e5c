/** A block with a separate receipt of itself, as Celo has before it became a rollup: its logs belong to no transaction. */
import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, type Log, silentLogger } from '@chainstead/core';
import { encodeReceipt, headerHash, logsBloom, orderedTrieRoot } from '@chainstead/proof';
import { parseReceipt } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createScriptedChain, type JsonObject, type RpcHandler, serveScriptedChain } from '@chainstead/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { executedTransactions } from './executed-transactions.ts';
import { readProvenBlock } from './proven-block.ts';

const CHAIN_ID = 31_337;
const chain = createChainRegistry({
  additional: [{ key: 'own', id: CHAIN_ID, headerHash: true, proofPolicy: 'strict' }],
}).get(CHAIN_ID);

/** Serves the block with a receipt of itself. */
async function openPool(emptyShare: number, nodes: (own: JsonObject) => ReadonlyMap<string, RpcHandler>) {
  const scripted = createScriptedChain({ seed: 5, chainId: CHAIN_ID, emptyShare });
  const [mined] = scripted.mine(1);
  if (mined === undefined) throw new RangeError('No block was mined');
  const { header, transactions, receipts } = mined;
  const index = `0x${receipts.length.toString(16)}`;
  const logIndex = `0x${receipts.flatMap(({ logs }) => logs as readonly JsonObject[]).length.toString(16)}`;
  const emitted = { address: `0x${'ce'.repeat(20)}`, topics: [`0x${'dd'.repeat(32)}`], data: '0x01' };
  const place = { blockNumber: header.number, transactionIndex: index };
  const receiptAt = (hash: unknown): JsonObject => ({
    ...{ ...place, blockHash: hash, transactionHash: hash, type: '0x0', status: '0x1' },
    ...{ cumulativeGasUsed: '0x0', gasUsed: '0x0', from: null, to: null, contractAddress: null },
    logs: [{ ...emitted, ...place, blockHash: hash, transactionHash: hash, logIndex, removed: false }],
  });
  const all = [...receipts, receiptAt(header.hash)].map(parseReceipt);
  const bloom = (logs: readonly Log[]) => `0x${logsBloom(logs).toString('hex')}`;
  const changed: JsonObject = {
    ...header,
    receiptsRoot: orderedTrieRoot(all.map((receipt) => encodeReceipt(receipt, 'computed'))),
    logsBloom: bloom(all.flatMap(({ logs }) => logs)),
  };
  const hash = headerHash(changed);
  const moved = (json: JsonObject): JsonObject => ({ ...json, blockHash: hash });
  const movedReceipts = receipts.map((receipt) => ({
    ...moved(receipt),
    logs: (receipt.logs as readonly JsonObject[]).map(moved),
  }));
  const own = { ...receiptAt(hash), logsBloom: bloom(all.at(-1)?.logs ?? []) };
  const block = { ...changed, hash, transactions: transactions.map(moved) };
  const served = new Map<string, RpcHandler>([
    ['eth_getBlockByNumber', async () => ({ result: block })],
    ['eth_getBlockReceipts', async () => ({ result: [...movedReceipts, own] })],
    [
      'eth_getTransactionReceipt',
      async ([wanted]) => ({
        result: [...movedReceipts, own].find(({ transactionHash }: JsonObject) => transactionHash === wanted),
      }),
    ],
    ...nodes(own),
  ]);
  const node = await serveScriptedChain(scripted, { methods: () => served });
  const pool = createUpstreamPool({
    ...{ chain, upstreams: [{ url: node.url }], logger: silentLogger(), metrics: createMetricsRegistry() },
  });
  onTestFinished(async () => {
    await pool.close();
    await node.close();
  });
  await pool.start();
  return { pool, hash, count: transactions.length };
}

const unsupported: RpcHandler = async () => ({ error: { code: -32_601, message: 'the method does not exist' } });

it.each([
  ['in the list of receipts', 0, new Map()],
  ['read by the hash of the block', 0, new Map([['eth_getBlockReceipts', unsupported]])],
  ['of a block without transactions', 1, new Map()],
  ['of a block without transactions, read by its hash', 1, new Map([['eth_getBlockReceipts', unsupported]])],
  [
    'of a block without transactions, whose list is empty',
    1,
    new Map([['eth_getBlockReceipts', async () => ({ result: [] })]]),
  ],
])('a receipt of the block itself %s has logs and is in the root', async (_name, emptyShare, methods) => {
  const { pool, hash, count } = await openPool(emptyShare, () => methods);
  const found = await readProvenBlock({ pool, chain, policy: 'strict' }, 1, { transactions: 'proven' });
  if (found === null) throw new RangeError('No block was read');
  expect(found).toMatchObject({ level: 'receipts', parts: { transactions: { level: 'receipts' } } });
  expect(found.logs.at(-1)).toMatchObject({ transactionHash: hash, transactionIndex: count, data: '0x01' });
  expect(new Set(found.logs.map(({ logIndex }) => logIndex)).size).toBe(found.logs.length);
  expect(executedTransactions(found)).toHaveLength(count);
});
