import type { Chain } from '@chainstead/chains';
import { type Address, type ChainId, getOrCompute, isAddress, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexText, sql } from '@chainstead/db';
import { z } from 'zod';
import { fetchInParts, type ReadingContext } from '../calls/fetch-in-parts.ts';
import { stateAt } from '../state-at.ts';
import { SILENCE_MS } from '../state-error.ts';
import type { StateKind, StateReader } from '../state-kind.ts';

export interface AccountCodesQuestion {
  items: string[];
}
/** `true`: there is a contract. */
export type AccountCodesAnswer = (readonly [address: string, hasCode: boolean])[];

export const accountCodesKind: StateKind<AccountCodesQuestion, AccountCodesAnswer> = {
  name: 'account-codes',
  question: z.object({ items: z.array(z.string().refine(isAddress)).min(1) }),
  answer: z.array(z.tuple([z.string(), z.boolean()])),
  callsOf: ({ items }) => items.length,
  // A node that returns no code for one address returns none for the others.
  failsAlike: () => '',
};

/** The absence of a contract is cached this long, its presence permanently. */
const ABSENCE_SECONDS = 3_600;

/** Unknown addresses are missing. A node that timed out is skipped for a while. */
export type HasCodeOf = (
  context: ReadingContext,
  chain: Chain,
  addresses: readonly Address[],
) => Promise<ReadonlyMap<Address, boolean>>;

export const hasCodeOf: HasCodeOf = async (context, chain, addresses) =>
  lookUpRest(context, chain, addresses, await getStoredCodes(context.database, chain, addresses));

/** Per chain and process, about a hundred bytes each. */
const REMEMBERED_MAX = 100_000;

export function createHasCodeOf(): HasCodeOf {
  const byChain = new Map<ChainId, Map<Address, { readonly hasCode: boolean; readonly until: number }>>();
  return async (context, chain, addresses) => {
    const now = performance.now();
    const codes = new Map<Address, boolean>();
    const remembered = getOrCompute(byChain, chain.id, () => new Map());
    const rest: Address[] = [];
    for (const address of addresses) {
      const code = remembered.get(address);
      if (code !== undefined && code.until > now) codes.set(address, code.hasCode);
      else rest.push(address);
    }
    if (rest.length === 0) return codes;
    const stored = await getStoredCodes(context.database, chain, rest);
    if (remembered.size + stored.size > REMEMBERED_MAX) remembered.clear();
    for (const [address, { hasCode, believedMs }] of stored)
      remembered.set(address, { hasCode, until: now + believedMs });
    for (const [address, hasCode] of await lookUpRest(context, chain, rest, stored)) codes.set(address, hasCode);
    return codes;
  };
}

interface StoredCode {
  readonly hasCode: boolean;
  /** Not above zero: look again. */
  readonly believedMs: number;
}

async function getStoredCodes(
  database: Database,
  chain: Chain,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, StoredCode>> {
  if (addresses.length === 0) return new Map();
  const rows = await database.query<{ address: Address; hasCode: boolean; believed: number }>(
    sql`SELECT ${hexText('address')} AS address, has_code,
       (extract(epoch FROM looked_at - now()) + ${ABSENCE_SECONDS})::float8 AS believed
     FROM account_codes WHERE address = ANY (${addresses.map(addressBytes)}::bytea[]) AND chain_id = ${chain.id}`,
  );
  return new Map(
    rows.map(({ address, hasCode, believed }) => [
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
): Promise<ReadonlyMap<Address, boolean>> {
  const codes = new Map([...stored].map(([address, { hasCode }]) => [address, hasCode]));
  const items = addresses.filter((address) => (stored.get(address)?.believedMs ?? 0) <= 0);
  if (items.length === 0) return codes;
  for (const answer of await fetchInParts(context, chain, accountCodesKind, {
    items,
    fruitlessMs: SILENCE_MS,
  }))
    for (const [address, hasCode] of answer) codes.set(parseAddress(address), hasCode);
  return codes;
}

/** EIP-7702: an account of a person that lets a contract act for it. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/;

export const accountCodesReader: StateReader<AccountCodesQuestion, AccountCodesAnswer> = {
  kind: accountCodesKind,
  async read({ chain, pool, database }, { items }, signal) {
    const addresses = items.map(parseAddress);
    const codes = await stateAt(pool, chain, 'latest').codes(addresses, signal);
    const answer = addresses.map((address, index) => {
      const code = codes[index] ?? '0x';
      return [address, code.length > 2 && !DELEGATION.test(code)] as const;
    });
    await saveCodes(database, chain.id, answer);
    return answer;
  },
};

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
