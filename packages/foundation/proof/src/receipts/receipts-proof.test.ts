import { keccak256Hex } from '@chainstead/core';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { readHeader } from '../blocks/decode-header.ts';
import { encodeHeader } from '../blocks/header-hash.ts';
import { InvalidStateProofError } from '../state-proof-error.ts';
import { mineBlock } from '../testing/mined-block.ts';
import type { RecordedBlock } from '../testing/recorded-blocks.ts';
import { orderedTrieProof, orderedTrieRoot } from '../tries/ordered-trie.ts';
import { readOrderedTrieProof } from '../tries/trie-proof.ts';
import { readReceiptLogs } from './read-receipt.ts';
import { proveReceipts } from './receipts-root.ts';

describe('proofs of values of a list', () => {
  it('prove each value, and nothing else', () => {
    const lists = fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(lists, fc.nat(), fc.nat(), (values, place, other) => {
        const index = place % values.length;
        const root = orderedTrieRoot(values);
        const nodes = orderedTrieProof(values, index);
        expect(readOrderedTrieProof(root, index, nodes)).toEqual(Buffer.from(values[index] ?? []));
        expect(() => orderedTrieProof(values, values.length)).toThrow(RangeError);
        const wrong = other % values.length;
        if (wrong !== index) expect(readOther(root, wrong, nodes)).not.toEqual(Buffer.from(values[index] ?? []));
      }),
      { numRuns: 50 },
    );
  });
});

/** Null or an error: the nodes are on the path of another value. */
function readOther(
  root: ReturnType<typeof orderedTrieRoot>,
  index: number,
  nodes: readonly Buffer[],
): Buffer | null {
  try {
    return readOrderedTrieProof(root, index, nodes);
  } catch (error) {
    if (!(error instanceof InvalidStateProofError)) throw error;
    return null;
  }
}

describe('proofs of receipts', () => {
  let block: RecordedBlock['block'];
  beforeAll(async () => {
    block = await mineBlock();
  });

  it('lead from the hash of a block to the logs of its receipts', () => {
    const { header, receipts } = block;
    const encoded = encodeHeader(header.raw, header.hash);
    const read = encoded === null ? null : readHeader(encoded);
    expect(read).toMatchObject({ hash: header.hash, number: header.number, timestamp: header.timestamp });
    if (read === null) return;
    expect(read.receiptsRoot).toBe(header.receiptsRoot);
    const context = { encoding: 'ethereum', blockNumber: header.number, blockHash: header.hash } as const;
    const places = receipts.map((_, place) => place);
    const proofs = proveReceipts(receipts, context, read.receiptsRoot, places);
    for (const [place, receipt] of receipts.entries()) {
      const proof = proofs?.get(place);
      const bytes = readOrderedTrieProof(read.receiptsRoot, place, proof?.nodes ?? []);
      expect(proof?.index).toBe(place);
      expect(bytes === null ? null : readReceiptLogs(bytes)).toEqual(
        receipt.logs.map(({ address, topics, data }) => ({ address, topics, data })),
      );
    }
  });

  it('are none under another root, and none of a missing receipt', () => {
    const { header, receipts } = block;
    const context = { encoding: 'ethereum', blockNumber: header.number, blockHash: header.hash } as const;
    const other = keccak256Hex(Buffer.from('another root'));
    expect(proveReceipts(receipts, context, other, [0])).toBeNull();
    expect(proveReceipts(receipts, context, header.receiptsRoot ?? other, [receipts.length])?.size).toBe(0);
  });

  it('have no header or receipt in other bytes', () => {
    for (const bytes of ['', 'c0', '80', '02', '02c0', 'f8'].map((hex) => Buffer.from(hex, 'hex')))
      expect([readHeader(bytes), readReceiptLogs(bytes)]).toEqual([null, null]);
    expect(encodeHeader(block.header.raw, keccak256Hex(Buffer.from('another')))).toBeNull();
  });
});
