import type { Chain } from '@chainstead/chains';
import {
  type Address,
  type ChainId,
  type Hash,
  type Hex,
  isAddress,
  parseBigQuantity,
  parseHash,
} from '@chainstead/core';
import { addressBytes, type Database, hexBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import { standardTransaction } from '@chainstead/rpc/standard-form';
import { z } from 'zod';
import { fetchInParts, type ReadingContext } from '../calls/fetch-in-parts.ts';
import type { StateKind, StateReader } from '../state-kind.ts';

export interface TransactionFacts {
  readonly sender: Address;
  /** Null: contract creation. */
  readonly recipient: Address | null;
  /** Wei, decimal digits. */
  readonly value: string;
  /** First four bytes of the input; null if it has fewer. */
  readonly method: Hex | null;
}

const address = z
  .string()
  .transform((text) => text.toLowerCase() as Address)
  .refine(isAddress);
const factsSchema = z.object({
  hash: z.string(),
  sender: z.string(),
  recipient: z.string().nullable(),
  value: z.string(),
  method: z.string().nullable(),
});
type Reported = z.infer<typeof factsSchema>;

const transactionFactsKind: StateKind<{ items: string[] }, Reported[]> = {
  name: 'transaction-facts',
  question: z.object({ items: z.array(z.string().regex(/^0x[0-9a-f]{64}$/)).min(1) }),
  answer: z.array(factsSchema),
  callsOf: ({ items }) => items.length,
};

const transactionSchema = z.object({
  hash: z.string(),
  from: address,
  to: address.nullish(),
  value: z.string().regex(/^0x[0-9a-f]+$/i),
  input: z.string().optional(),
  data: z.string().optional(),
});

const METHOD_LENGTH = 10;

/** The rest is read from a node in time; unknown transactions are missing. */
export async function transactionFactsOf(
  context: Omit<ReadingContext, 'database'> & { readonly database: ReadDatabase },
  chain: Chain,
  hashes: readonly Hash[],
): Promise<ReadonlyMap<Hash, TransactionFacts>> {
  const rows = await context.database.select<TransactionFacts & { hash: Hash }>(
    sql`SELECT ${hexText('hash')} AS hash, ${hexText('sender')} AS sender, ${hexText('recipient')} AS recipient, value::text,
       ${hexText('method')} AS method
     FROM transaction_facts WHERE hash = ANY (${hashes.map(hexBytes)}::bytea[]) AND chain_id = ${chain.id}`,
  );
  const byHash = new Map<Hash, TransactionFacts>(rows.map(({ hash, ...facts }) => [hash, facts]));
  const items = hashes.filter((hash) => !byHash.has(hash));
  for (const answer of await fetchInParts(context, chain, transactionFactsKind, { items }))
    for (const { hash, ...facts } of answer) byHash.set(parseHash(hash), facts as TransactionFacts);
  return byHash;
}

export const transactionFactsReader: StateReader<{ items: string[] }, Reported[]> = {
  kind: transactionFactsKind,
  async read({ chain, pool, database }, { items }, signal) {
    const params = items.map((hash) => [hash]);
    const answers = await pool.requestMany('eth_getTransactionByHash', params, { signal });
    const reported = answers.flatMap(({ value }, index) => readTransaction(value, items[index]) ?? []);
    await saveFacts(database, chain.id, reported);
    return reported;
  },
};

/** Null for a transaction other than the requested one. */
function readTransaction(value: unknown, hash: string | undefined): Reported | null {
  const parsed = transactionSchema.safeParse(standardTransaction(Object(value)));
  if (!parsed.success || hash === undefined || parsed.data.hash.toLowerCase() !== hash) return null;
  const { from, to, value: wei, input, data } = parsed.data;
  const bytes = (input ?? data ?? '0x').toLowerCase();
  return {
    hash,
    sender: from,
    recipient: to ?? null,
    value: parseBigQuantity(wei).toString(),
    method: bytes.length >= METHOD_LENGTH ? bytes.slice(0, METHOD_LENGTH) : null,
  };
}

async function saveFacts(database: Database, chainId: ChainId, reported: readonly Reported[]): Promise<void> {
  if (reported.length === 0) return;
  const bytes = (text: string | null): Buffer | null => (text === null ? null : hexBytes(text));
  await database.query(
    sql`INSERT INTO transaction_facts (hash, chain_id, sender, recipient, value, method)
     SELECT hash, ${chainId}, sender, recipient, value, method
     FROM unnest(${reported.map(({ hash }) => hexBytes(hash))}::bytea[], ${reported.map(({ sender }) => addressBytes(sender as Address))}::bytea[], ${reported.map(({ recipient }) => bytes(recipient))}::bytea[], ${reported.map(({ value }) => value)}::numeric[], ${reported.map(({ method }) => bytes(method))}::bytea[]) AS reported (hash, sender, recipient, value, method) ORDER BY hash
     ON CONFLICT (hash, chain_id) DO NOTHING`,
  );
}
