import type { Address, Hash, Hex } from '@chainstead/core';
import { readBalanceEvidence } from '@chainstead/erc20/balance-evidence';
import type { StateKind, StateReader, StateReadingContext } from '@chainstead/node-reads';
import { encodeHeader, proveReceipts, readHeader } from '@chainstead/proof';
import { readProvenBlock } from '@chainstead/sync';
import { z } from 'zod';
import { accountProofSchema } from '../token-price/serve/price-proof-document.ts';

export interface EvidenceQuestion {
  readonly blocks: readonly {
    readonly number: number;
    readonly hash: Hash;
    readonly logs: readonly LogOfBlock[];
  }[];
  /** All headers from block `first` to the one of this hash; null: none. */
  readonly link: { readonly first: number; readonly last: number; readonly hash: Hash } | null;
  readonly state: {
    readonly number: number;
    readonly hash: Hash;
    readonly balances: readonly BalanceOfPool[];
  } | null;
}

/** `balance`: base units, decimal digits. */
export type BalanceOfPool = { readonly pool: Address; readonly token: Address; readonly balance: string };

export type LogOfBlock = { readonly transactionIndex: number; readonly logIndex: number };

export interface BlockEvidence {
  readonly hash: Hash;
  /** Why there is no proof; null: there is one. */
  readonly reason: 'no-proof-from-node' | 'header-not-verifiable' | null;
  /** RLP. */
  readonly header: Hex;
  readonly receipts: readonly { readonly index: number; readonly nodes: readonly Hex[] }[];
  readonly logs: readonly { readonly index: number; readonly log: number }[];
}

export interface PriceEvidence {
  readonly blocks: readonly BlockEvidence[];
  /** RLP, oldest first. None: the headers don't link, or have another encoding. */
  readonly headers: readonly Hex[];
  readonly balances: readonly (StorageProof | null)[];
}

type StorageProof = Readonly<z.infer<typeof storageProofSchema>>;

const hash = z.custom<Hash>((value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value));
const bytes = z.custom<Hex>((value) => typeof value === 'string' && /^0x([0-9a-f]{2})*$/.test(value));
const place = z.int().min(0);
const address = z.custom<Address>((value) => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value));
const logSchema = z.object({ transactionIndex: place, logIndex: place });
const balanceSchema = z.object({ pool: address, token: address, balance: z.string() });
const storageProofSchema = z.object({
  layout: z.enum(['solidity', 'vyper', 'solady']),
  slot: z.string(),
  proof: accountProofSchema,
});

const CALLS_PER_BLOCK = 2;
const CALLS_PER_BALANCE = 3;

/** The headers of a hash never change. */
export const PRICE_EVIDENCE: StateKind<EvidenceQuestion, PriceEvidence> = {
  name: 'price-evidence',
  question: z.object({
    blocks: z.array(z.object({ number: place, hash, logs: z.array(logSchema) })),
    link: z.object({ first: place, last: place, hash }).nullable(),
    state: z.object({ number: place, hash, balances: z.array(balanceSchema) }).nullable(),
  }),
  answer: z.object({
    blocks: z.array(
      z.object({
        hash,
        reason: z.enum(['no-proof-from-node', 'header-not-verifiable']).nullable(),
        header: bytes,
        receipts: z.array(z.object({ index: place, nodes: z.array(bytes) })),
        logs: z.array(z.object({ index: place, log: place })),
      }),
    ),
    headers: z.array(bytes),
    balances: z.array(storageProofSchema.nullable()),
  }),
  callsOf: ({ blocks, link, state }) =>
    blocks.length * CALLS_PER_BLOCK +
    (link === null ? 0 : link.last - link.first + 1) +
    (state?.balances.length ?? 0) * CALLS_PER_BALANCE,
};

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
