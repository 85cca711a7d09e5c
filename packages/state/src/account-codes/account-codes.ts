import type { Chain } from '@chainstead/chains';
import { type Address, type ChainId, type Hex, isAddress, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexText } from '@chainstead/db';
import { z } from 'zod';
import { askInParts, type ReadingContext } from '../ask-in-parts.ts';
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
};

/** How long it is believed that there is no contract at an address; that there is one stays so. Seconds. */
const ABSENCE_SECONDS = 3_600;
/** EIP-7702: an account of a person that lets a contract act for it. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/;

/**
 * Whether there are contracts at these addresses: what is stored, and the rest read from a node within `waitMs`. What is not known in time
 * is missing.
 */
export async function hasCodeOf(
  context: ReadingContext,
  chain: Chain,
  addresses: readonly Address[],
  waitMs: number,
): Promise<ReadonlyMap<Address, boolean>> {
  const rows = await context.database.query<{ address: Address; has_code: boolean; is_due: boolean }>(
    `SELECT ${hexText('address')} AS address, has_code, NOT has_code AND looked_at < now() - make_interval(secs => $3) AS is_due
     FROM account_codes WHERE address = ANY ($1::bytea[]) AND chain_id = $2`,
    [addresses.map(addressBytes), chain.id, ABSENCE_SECONDS],
  );
  const found = new Map(rows.map(({ address, has_code }) => [address, has_code]));
  const due = new Set(rows.filter(({ is_due }) => is_due).map(({ address }) => address));
  const items = addresses.filter((address) => !found.has(address) || due.has(address));
  for (const answer of await askInParts(context, chain, accountCodesKind, { items, waitMs }))
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
  told: readonly (readonly [Address, boolean])[],
): Promise<void> {
  await database.query(
    `INSERT INTO account_codes (address, chain_id, has_code)
     SELECT address, $1, has_code FROM unnest($2::bytea[], $3::boolean[]) AS told (address, has_code) ORDER BY address
     ON CONFLICT (address, chain_id) DO UPDATE SET has_code = excluded.has_code, looked_at = excluded.looked_at`,
    [chainId, told.map(([address]) => addressBytes(address)), told.map(([, hasCode]) => hasCode)],
  );
}
