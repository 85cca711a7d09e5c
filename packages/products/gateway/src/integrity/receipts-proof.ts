import type { Hash, Receipt } from '@chainstead/core';
import { encodeReceipt, receiptsRoot } from '@chainstead/proof';
import {
  type Answer,
  parseHeader,
  parseReceipt,
  type RawCall,
  type RequestOptions,
  RpcCallError,
} from '@chainstead/rpc';
import { LRUCache } from 'lru-cache';
import type { CheckableChain, Wrong } from './integrity-check.ts';

/** Clients request receipts one by one. */
const PROVEN_BLOCKS = 64;

type ProvenReceipts = ReadonlyMap<Hash, Buffer>;

/** @param options.forward returns proven responses; passes receipts to `proveAll` first */
export function createReceiptsProof({
  chain,
  forward,
}: {
  readonly chain: CheckableChain;
  readonly forward: (call: RawCall, given: RequestOptions) => Promise<Answer<Buffer>>;
}) {
  const provenBlocks = new LRUCache<Hash, ProvenReceipts>({ max: PROVEN_BLOCKS });

  async function readHeader(hash: Hash, given: RequestOptions) {
    const params = JSON.stringify([hash, false]);
    const call = { method: 'eth_getBlockByHash', params, nullable: true, block: null };
    const { value } = await forward(call, given);
    const json: unknown = JSON.parse(value.toString());
    return json === null ? null : parseHeader(json);
  }

  async function proveAll(at: unknown, json: readonly unknown[], given: RequestOptions): Promise<Wrong | null> {
    if (chain.receiptsRoot === 'none') return null;
    const receipts = json.map(parseReceipt);
    const named = receipts[0]?.raw.blockHash ?? at;
    if (typeof named !== 'string' || named.length !== 66) return null;
    const blockHash = named.toLowerCase() as Hash;
    const header = await readHeader(blockHash, given);
    if (header === null)
      return { kind: 'malformed', text: `the receipts are of block ${blockHash}, which is unknown` };
    if (header.receiptsRoot === null) return null;
    const context = { encoding: chain.receiptsRoot, blockNumber: header.number, blockHash };
    const root = receiptsRoot(receipts, context);
    if (root !== header.receiptsRoot) {
      const text = `the receipts have root ${root}, the header ${header.receiptsRoot}`;
      return { kind: 'receipts-root-mismatch', text };
    }
    const encoded = receipts.map(
      (receipt) => [receipt.transactionHash, encodeReceipt(receipt, 'computed')] as const,
    );
    provenBlocks.set(blockHash, new Map(encoded));
    return null;
  }

  async function proveOne(receipt: Receipt, given: RequestOptions): Promise<Wrong | null> {
    if (chain.receiptsRoot === 'none') return null;
    const { blockHash, blockNumber } = receipt.raw;
    if (typeof blockHash !== 'string' || typeof blockNumber !== 'string')
      return { kind: 'malformed', text: 'the receipt names no block' };
    const hash = blockHash.toLowerCase() as Hash;
    if (!provenBlocks.has(hash)) {
      const params = JSON.stringify([blockNumber]);
      const call = { method: 'eth_getBlockReceipts', params, nullable: true, block: Number(blockNumber) };
      try {
        await forward(call, given);
      } catch (error) {
        // No upstream has the method: only the receipt's own consistency can be checked.
        if (error instanceof RpcCallError) return null;
        throw error;
      }
    }
    const proven = provenBlocks.get(hash)?.get(receipt.transactionHash);
    if (proven?.equals(encodeReceipt(receipt, 'computed')) === true) return null;
    const text = `block ${hash} holds no such receipt of ${receipt.transactionHash}`;
    return { kind: 'receipts-root-mismatch', text };
  }

  return { proveAll, proveOne };
}
