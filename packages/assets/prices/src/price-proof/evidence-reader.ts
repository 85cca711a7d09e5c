import type { Hex } from '@chainstead/core';
import { readBalanceEvidence } from '@chainstead/erc20/balance-evidence';
import type { StateReader, StateReadingContext } from '@chainstead/node-reads';
import { encodeHeader, proveReceipts, readHeader } from '@chainstead/proof';
import { readProvenBlock } from '@chainstead/sync';
import { accountProofSchema } from '../token-price/serve/price-proof-document.ts';
import {
  type BlockEvidence,
  type EvidenceQuestion,
  PRICE_EVIDENCE,
  type PriceEvidence,
  type StorageProof,
} from './evidence-kind.ts';

type Context = Pick<StateReadingContext, 'chain' | 'pool' | 'database'>;

export const priceEvidenceReader: StateReader<EvidenceQuestion, PriceEvidence> = {
  kind: PRICE_EVIDENCE,
  async read(context, { blocks, link, state }, signal) {
    return {
      blocks: await Promise.all(blocks.map((block) => readEvidence(context, block, signal))),
      headers: link === null ? [] : await readLink(context, link, signal),
      balances: state === null ? [] : await readBalances(context, state, signal),
    };
  },
};

async function readEvidence(
  { chain, pool }: Context,
  { hash, logs }: EvidenceQuestion['blocks'][number],
  signal: AbortSignal,
): Promise<BlockEvidence> {
  const none = { hash, header: '0x', receipts: [], logs: [] } as const;
  const { receiptsRoot: encoding } = chain;
  if (encoding === 'none') return { ...none, reason: 'header-not-verifiable' };
  const block = await readProvenBlock({ pool, chain, policy: 'record' }, hash, { signal });
  const root = block?.header.receiptsRoot ?? null;
  if (block === null || block.level !== 'receipts' || root === null)
    return { ...none, reason: 'no-proof-from-node' };
  const header = encodeHeader(block.header.raw, hash);
  if (header === null) return { ...none, reason: 'header-not-verifiable' };
  const context = { encoding, blockNumber: block.header.number, blockHash: hash };
  const transactions = [...new Set(logs.map(({ transactionIndex }) => transactionIndex))];
  const proofs = proveReceipts(block.receipts, context, root, transactions);
  const places = logs.flatMap(({ transactionIndex, logIndex }) => {
    const receipt = block.receipts.find((candidate) => candidate.transactionIndex === transactionIndex);
    const log = receipt?.logs.findIndex((candidate) => candidate.logIndex === logIndex) ?? -1;
    const index = proofs?.get(transactionIndex)?.index;
    return log < 0 || index === undefined ? [] : [{ index, log }];
  });
  if (proofs === null || places.length < logs.length) return { ...none, reason: 'no-proof-from-node' };
  const receipts = [...proofs.values()].map(({ index, nodes }) => ({ index, nodes: nodes.map(hexOf) }));
  return { hash, reason: null, header: hexOf(header), receipts, logs: places };
}

async function readLink(
  { pool }: Context,
  { first, last, hash }: NonNullable<EvidenceQuestion['link']>,
  signal: AbortSignal,
): Promise<readonly Hex[]> {
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const headers = await pool.getHeaders(numbers, { signal });
  const encoded: Hex[] = [];
  let wanted = hash;
  for (const { value: header } of headers.toReversed()) {
    const bytes = encodeHeader(header.raw, wanted);
    const read = bytes === null ? null : readHeader(bytes);
    if (bytes === null || read === null) return [];
    encoded.unshift(hexOf(bytes));
    wanted = read.parentHash;
  }
  return encoded;
}

async function readBalances(
  { chain, pool, database }: Context,
  { number, hash, balances }: NonNullable<EvidenceQuestion['state']>,
  signal: AbortSignal,
): Promise<readonly (StorageProof | null)[]> {
  const options = { chain, pool, database, block: { number, hash } };
  const found: (StorageProof | null)[] = [];
  for (const { pool: account, token, balance } of balances) {
    const evidence = await readBalanceEvidence(options, { account, token, balance: BigInt(balance) }, signal);
    const proof = accountProofSchema.safeParse(evidence?.proof);
    const isComplete = evidence !== null && proof.success;
    found.push(
      isComplete ? { layout: evidence.layout, slot: evidence.slot.toString(), proof: proof.data } : null,
    );
  }
  return found;
}

const hexOf = (bytes: Buffer): Hex => `0x${bytes.toString('hex')}`;
