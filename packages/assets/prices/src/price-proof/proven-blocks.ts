import type { Hash, Hex } from '@chainstead/core';
import {
  hexToBytes,
  InvalidStateProofError,
  type ReadHeader,
  type ReadLog,
  readHeader,
  readOrderedTrieProof,
  readReceiptLogs,
} from '@chainstead/proof';
import type { PriceProof } from '../token-price/serve/price-proof-document.ts';
import { PriceProofError } from './proof-error.ts';

export interface ProvenBlocks {
  readonly price: ReadHeader;
  readonly byNumber: ReadonlyMap<number, ReadHeader>;
  readonly byHash: ReadonlyMap<Hash, ReadHeader>;
  readonly unlinked: readonly ReadHeader[];
}

/** @throws PriceProofError */
export function readBlocks({ headers, block_hash: priceHash, receipts }: PriceProof): ProvenBlocks {
  const read = headers.map((encoded, index) => {
    const header = readHeader(hexToBytes(encoded));
    if (header !== null) return header;
    throw new PriceProofError(`proof.headers[${index}]`, 'is not the header of a block');
  });
  for (const [index, { number }] of read.entries())
    if (index > 0 && number <= (read[index - 1]?.number ?? -1))
      throw new PriceProofError(`proof.headers[${index}]`, 'is not of a later block than the header before it');
  const byHash = new Map(read.map((header) => [header.hash, header]));
  const price = read.at(-1);
  if (price === undefined || price.hash !== priceHash)
    throw new PriceProofError('proof.headers', `does not end with the header that hashes to ${priceHash}`);
  const linked = new Set<Hash>();
  for (let next: ReadHeader | undefined = price; next !== undefined; next = byHash.get(next.parentHash))
    linked.add(next.hash);
  const used = new Set<string>(receipts.map(({ block_hash }) => block_hash));
  const unlinked = read.filter(({ hash }) => !linked.has(hash));
  for (const { hash, number } of unlinked)
    if (!used.has(hash))
      throw new PriceProofError(
        `proof.headers`,
        `has block ${number}, which is neither linked nor has a receipt`,
      );
  return { price, byHash, byNumber: new Map(read.map((header) => [header.number, header])), unlinked };
}

export interface ProvenLog extends ReadLog {
  readonly block: ReadHeader;
  readonly index: number;
  readonly log: number;
}

/** Looks logs up by their place. @throws PriceProofError, also the look-up */
export function readLogs({ receipts }: PriceProof, { byHash }: ProvenBlocks) {
  const read = receipts.map(({ block_hash: hash, index, nodes }, position) => {
    const at = `proof.receipts[${position}]`;
    const block = byHash.get(hash as Hash);
    if (block === undefined) throw new PriceProofError(at, `is of block ${hash}, whose header is missing`);
    return { block, index, logs: logsOf(block, index, nodes as readonly Hex[], at) };
  });
  return ({ receipt, log }: { readonly receipt: number; readonly log: number }, at: string): ProvenLog => {
    const found = read[receipt];
    const content = found?.logs[log];
    if (found === undefined || content === undefined)
      throw new PriceProofError(at, `names log ${log} of proof.receipts[${receipt}], which does not exist`);
    return { ...content, block: found.block, index: found.index, log };
  };
}

function logsOf(block: ReadHeader, index: number, nodes: readonly Hex[], at: string): readonly ReadLog[] {
  try {
    const encoded = readOrderedTrieProof(block.receiptsRoot, index, nodes.map(hexToBytes));
    const logs = encoded === null ? null : readReceiptLogs(encoded);
    if (logs === null) throw new PriceProofError(at, `proves no receipt ${index} of block ${block.number}`);
    return logs;
  } catch (error) {
    if (!(error instanceof InvalidStateProofError)) throw error;
    throw new PriceProofError(at, `does not lead to the receipts root of block ${block.number} (${error.fault})`);
  }
}

export function compareLogs(a: ProvenLog, b: ProvenLog): number {
  return a.block.number - b.block.number || a.index - b.index || a.log - b.log;
}
