import type { Chain } from '@chainstead/chains';
import { type Address, type ChainId, type Hex, isAddress, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexText, sql } from '@chainstead/db';
import { z } from 'zod';
import { fetchInParts, type ReadingContext } from '../calls/fetch-in-parts.ts';
import { SILENCE_MS } from '../queue/node-read-queue.ts';
import { stateAt } from '../state-at.ts';
import type { StateKind, StateReader } from '../state-kind.ts';

interface Question {
  items: string[];
}
/** As pairs of an address and whether there is a contract. */
type Answer = (readonly [address: string, hasCode: boolean])[];

const accountCodesKind: StateKind<Question, Answer> = {
  name: 'account-codes',
  question: z.object({ items: z.array(z.string().refine(isAddress)).min(1) }),
  answer: z.array(z.tuple([z.string(), z.boolean()])),
  callsOf: ({ items }) => items.length,
  // No contract takes part: a node that returns no code for one address returns none for the others.
  failsAlike: () => '',
};

/** How long the absence of a contract at an address is cached; its presence is permanent. Seconds. */
const ABSENCE_SECONDS = 3_600;
/** EIP-7702: an account of a person that lets a contract act for it. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/;

/** Whether there are contracts at addresses. Unknown addresses are missing. @param waitMs how long to wait for a node; a node that timed out is skipped for some seconds */
export type HasCodeOf = (
  context: ReadingContext,
  chain: Chain,
  addresses: readonly Address[],
  waitMs: number,
) => Promise<ReadonlyMap<Address, boolean>>;

/** Stored codes, and the rest read from a node within `waitMs`. */
export const hasCodeOf: HasCodeOf = async (context, chain, addresses, waitMs) =>
  lookUpRest(context, chain, addresses, await getStoredCodes(context.database, chain, addresses), waitMs);

/** Limit for a chain and process. An address takes about a hundred bytes. */
const REMEMBERED_MAX = 100_000;

/** The same for many requests: stored results are cached for as long as they are valid. */
export function createHasCodeOf(): HasCodeOf {
  const byChain = new Map<ChainId, Map<Address, { readonly hasCode: boolean; readonly until: number }>>();
  return async (context, chain, addresses, waitMs) => {
    const now = performance.now();
    const found = new Map<Address, boolean>();
    const remembered = byChain.get(chain.id) ?? new Map();
    byChain.set(chain.id, remembered);
    const rest: Address[] = [];
    for (const address of addresses) {
      const known = remembered.get(address);
      if (known !== undefined && known.until > now) found.set(address, known.hasCode);
      else rest.push(address);
    }
    if (rest.length === 0) return found;
    const stored = await getStoredCodes(context.database, chain, rest);
    if (remembered.size + stored.size > REMEMBERED_MAX) remembered.clear();
    for (const [address, { hasCode, believedMs }] of stored)
      remembered.set(address, { hasCode, until: now + believedMs });
    for (const [address, hasCode] of await lookUpRest(context, chain, rest, stored, waitMs))
      found.set(address, hasCode);
    return found;
  };
}

interface StoredCode {
  readonly hasCode: boolean;
  /** Not above zero: it is to be looked at again. Milliseconds. */
  readonly believedMs: number;
}

async function getStoredCodes(
  database: Database,
  chain: Chain,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, StoredCode>> {
  if (addresses.length === 0) return new Map();
  const rows = await database.query<{ address: Address; has_code: boolean; believed: number }>(
    sql`SELECT ${hexText('address')} AS address, has_code, (extract(epoch FROM looked_at - now()) + ${ABSENCE_SECONDS})::float8 AS believed
     FROM account_codes WHERE address = ANY (${addresses.map(addressBytes)}::bytea[]) AND chain_id = ${chain.id}`,
  );
  return new Map(
    rows.map(({ address, has_code: hasCode, believed }) => [
      address,
      { hasCode, believedMs: hasCode ? Number.POSITIVE_INFINITY : believed * 1_000 },
    ]),
  );
}

async function lookUpRest(
  context: ReadingContext,
  chain: Chain,
  addresses: readonly Address[],
  stored: ReadonlyMap<Address, StoredCode>,
  waitMs: number,
): Promise<ReadonlyMap<Address, boolean>> {
  const found = new Map([...stored].map(([address, { hasCode }]) => [address, hasCode]));
  const items = addresses.filter((address) => (stored.get(address)?.believedMs ?? 0) <= 0);
  if (items.length === 0) return found;
  for (const answer of await fetchInParts(context, chain, accountCodesKind, { items, waitMs, fruitlessMs: SILENCE_MS }))
    for (const [address, hasCode] of answer) found.set(parseAddress(address), hasCode);
  return found;
}

/** Reads codes at the newest block, and keeps whether there are any. */
export const accountCodesReader: StateReader<Question, Answer> = {
  kind: accountCodesKind,
  async read({ chain, pool, database }, { items }, signal) {
    const addresses = items.map(parseAddress);
    const codes = await stateAt(pool, chain, 'latest').codes(addresses, signal);
    const answer = addresses.map((address, place) => [address, isContract(codes[place] ?? '0x')] as const);
    await saveCodes(database, chain.id, answer);
    return answer;
  },
};

function isContract(code: Hex): boolean {
  return code.length > 2 && !DELEGATION.test(code);
}

async function saveCodes(
  database: Database,
  chainId: ChainId,
  reported: readonly (readonly [Address, boolean])[],
): Promise<void> {
  await database.query(
    sql`INSERT INTO account_codes (address, chain_id, has_code)
     SELECT address, ${chainId}, has_code FROM unnest(${reported.map(([address]) => addressBytes(address))}::bytea[], ${reported.map(([, hasCode]) => hasCode)}::boolean[]) AS reported (address, has_code) ORDER BY address
     ON CONFLICT (address, chain_id) DO UPDATE SET has_code = excluded.has_code, looked_at = excluded.looked_at`,
  );
}
