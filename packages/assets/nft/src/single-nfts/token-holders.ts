import type { Chain } from '@chainstead/chains';
import { type Address, systemClock, ZERO_ADDRESS } from '@chainstead/core';
import { expectedTrue, hexText, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import { areTablesSpread, createMissingIndexes, type SubjectCoverage } from '@chainstead/pages';
import type { TokenKey } from '../collections/token-rows.ts';
import { type RecordKey, recordId } from '../records/nft-record.ts';
import { readTogether, requestedTokens } from '../records/request-unread-tokens.ts';
import { NOBODY, PLACE, placeOrder, tokenMoves } from '../records/token-moves.ts';
import { type HeldNow, holdingId, NOBODY_REQUESTED } from '../token-state/held-readers.ts';
import { changesHolder, reportsHolder } from '../transfers/moved-amounts.ts';

export interface TokenHolders {
  /** Calls contracts for tokens that never moved, and for ERC-1155 with an incomplete history. */
  find(
    chain: Chain,
    tokens: readonly TokenKey[],
    coverage: ReadonlyMap<Address, SubjectCoverage>,
  ): Promise<readonly (RecordKey | null)[]>;
  missingIndexes(): Promise<readonly string[]>;
}

const BY_TOKEN = 'nft_transfers_by_token';
const BY_RANGE = 'nft_transfers_by_range';

export function createTokenHolders(database: ReadDatabase, heldNow: HeldNow = NOBODY_REQUESTED): TokenHolders {
  const missing = createMissingIndexes(database, systemClock, [BY_TOKEN, BY_RANGE]);
  return {
    missingIndexes: async () => (await missing()).filter((name) => name !== BY_RANGE),
    async find(chain, tokens, coverage) {
      const reported = await getTokenHolders(database, chain, tokens, {
        hasRanges: !(await missing()).includes(BY_RANGE),
        isSpread: await areTablesSpread(database),
        isWhole: (contract) => coverage.get(contract)?.isCovered ?? false,
      });
      return fetchUnreported(heldNow, chain, tokens, reported);
    },
  };
}

async function fetchUnreported(
  heldNow: HeldNow,
  chain: Chain,
  tokens: readonly TokenKey[],
  reported: readonly (TokenHolder | null)[],
): Promise<readonly (RecordKey | null)[]> {
  const unmoved = tokens.filter((_, index) => (reported[index] ?? null) === null);
  const unreported = reported
    .filter((holder) => holder !== null)
    .flatMap(({ address, tokenId, candidates }) => candidates.map(({ owner }) => ({ address, tokenId, owner })));
  const [owners, amounts] = await Promise.all([
    unmoved.length === 0 ? new Map<string, Address>() : heldNow.ownersOf(chain, unmoved),
    unreported.length === 0 ? new Map<string, string>() : heldNow.amountsOf(chain, unreported),
  ]);
  return tokens.map((token, index) => {
    const holder = reported[index] ?? null;
    if (holder !== null) return holderNow(holder, amounts);
    const owner = owners.get(recordId(token));
    return owner === undefined ? null : { ...token, owner, amount: '1', blockNumber: null };
  });
}

function holderNow({ candidates, ...held }: TokenHolder, amounts: ReadonlyMap<string, string>): RecordKey {
  const reported = candidates.map((candidate) => ({
    ...candidate,
    amount: amounts.get(holdingId({ ...held, owner: candidate.owner })) ?? null,
  }));
  const holder =
    reported.find(({ amount }) => amount !== null && amount !== '0') ??
    reported.find(({ amount, isLikely }) => amount === null && isLikely);
  if (holder === undefined) return held;
  return { ...held, owner: holder.owner, amount: holder.amount, blockNumber: holder.blockNumber };
}

interface TokenHolder extends RecordKey {
  /** Possible holders of an ERC-1155 if transfers don't show them: newest receipt first. */
  readonly candidates: readonly HolderCandidate[];
}

interface HolderCandidate {
  readonly owner: Address;
  readonly blockNumber: number;
  /** Known to have received more than it gave. */
  readonly isLikely: boolean;
}

/**
 * In token order. Null without an indexed transfer. ERC-1155: the newest receiver that holds it.
 * @param isWhole whether a contract's history is complete, as sums of ERC-1155 need
 */
async function getTokenHolders(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly TokenKey[],
  { isWhole, ...reading }: HoldersReading & { readonly isWhole: (contract: Address) => boolean },
): Promise<readonly (TokenHolder | null)[]> {
  if (tokens.length === 0) return [];
  const rows = await readTogether(tokens, reading.isSpread === true, (some) =>
    database.select<HolderColumns>(tokenHoldersStatement(chain, some, reading)),
  );
  return tokens.map(({ address, tokenId }, index) => {
    const row = rows[index];
    const held = row === undefined ? null : heldOf(row, isWhole(address));
    return held && { address, tokenId, ...held };
  });
}

interface HolderColumns {
  readonly kind: number | null;
  readonly newestOwner: Address | null;
  /** Null if only transfers from an account to itself are known. */
  readonly newestBlock: number | null;
  readonly accounts: readonly AccountEntry[] | null;
  readonly moves: number | null;
  readonly rangeOwner: Address | null;
  readonly rangeBlock: number | null;
}

type Held = Omit<TokenHolder, 'address' | 'tokenId'>;

function heldOf(row: HolderColumns, isWhole: boolean): Held | null {
  if (row.kind === null || row.newestOwner === null)
    return row.rangeOwner === null ? null : ofOne(row.rangeOwner, row.rangeBlock);
  if (!BATCHABLE.includes(row.kind)) return ofOne(row.newestOwner, row.newestBlock);
  const accounts = (row.accounts ?? []).map(([digits, amount, blockNumber]) => {
    return { owner: `0x${digits}` as Address, amount, blockNumber, isLikely: BigInt(amount) > 0n };
  });
  const nobody = ofOne(ZERO_ADDRESS, row.newestBlock);
  if (!isWhole || (row.moves ?? 0) > ADDED_UP_MAX) return { ...nobody, candidates: accounts.map(candidateOf) };
  const holder = accounts.find(({ isLikely }) => isLikely);
  if (holder !== undefined)
    return { owner: holder.owner, amount: holder.amount, blockNumber: holder.blockNumber, candidates: [] };
  return accounts.every(({ amount }) => amount === '0')
    ? nobody
    : { ...nobody, candidates: accounts.map(candidateOf) };
}

function candidateOf({ owner, blockNumber, isLikely }: HolderCandidate): HolderCandidate {
  return { owner, blockNumber, isLikely };
}

function ofOne(owner: Address, blockNumber: number | null): Held {
  const isBurned = owner === ZERO_ADDRESS;
  return { owner: isBurned ? null : owner, amount: isBurned ? null : '1', blockNumber, candidates: [] };
}

interface HoldersReading {
  readonly hasRanges: boolean;
  readonly isSpread?: boolean;
}

/** An ERC-1155 id that moved more often has no known amount. */
const ADDED_UP_MAX = 5_000;
const ACCOUNTS_MAX = 10;

/** Receipts minus transfers out: hexadecimal digits, decimal digits, newest block of both. */
type AccountEntry = readonly [account: string, amount: string, lastBlock: number];

/**
 * One row per token, in order (records-statement.explain.test.ts): the newest transfer that shows
 * an owner, or the newest receivers (ERC-1155), or the range of the mint (never moved).
 */
export function tokenHoldersStatement(
  chain: Chain,
  tokens: readonly TokenKey[],
  { hasRanges, isSpread = false }: HoldersReading,
): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const changes = { chainId, columns: COLUMNS, condition: changesHolder('moved'), order: 'DESC' } as const;
  const several = joinSql(BATCHABLE.map(rawSql));
  return sql`SELECT newest.kind, ${hexText('newest.to_address')} AS "newestOwner",
  CASE WHEN newest.from_address = newest.to_address THEN coalesce(before.block_number, ranged.block_number) ELSE newest.block_number END AS "newestBlock",
  summed.accounts, summed.moves::int AS moves,
  ${hexText('ranged.to_address')} AS "rangeOwner", ranged.block_number AS "rangeBlock"
FROM ${requestedTokens(tokens, isSpread)}
LEFT JOIN LATERAL (${tokenMoves({ ...changes, condition: reportsHolder('moved'), limit: 1 })}) AS newest ON true
LEFT JOIN LATERAL (
  SELECT changed.block_number FROM (${tokenMoves({ ...changes, limit: 1 })}) AS changed
  WHERE newest.from_address = newest.to_address LIMIT 1
) AS before ON true
LEFT JOIN LATERAL (
  SELECT json_agg(json_build_array(encode(ranked.account, 'hex'), ranked.amount::text, ranked.last_block) ORDER BY ranked.receipt) AS accounts,
    max(ranked.moves) AS moves
  FROM (
    SELECT known.*, row_number() OVER (ORDER BY known.received_at DESC NULLS LAST, known.changed_at DESC) AS receipt,
      row_number() OVER (ORDER BY known.amount > 0 DESC, known.received_at DESC NULLS LAST, known.changed_at DESC) AS place
    FROM (
      SELECT side.account, sum(side.delta) AS amount, max(moved.block_number) AS last_block, max(moved.moves) AS moves, max(moved.at) AS changed_at,
        max(moved.at) FILTER (WHERE side.delta > 0) AS received_at
      FROM (
        SELECT changed.*, count(*) OVER () AS moves, row_number() OVER (ORDER BY ${placeOrder('changed', 'ASC')}) AS at
        FROM (${tokenMoves({ ...changes, limit: ADDED_UP_MAX + 1 })}) AS changed WHERE newest.kind IN (${several})
      ) AS moved
      CROSS JOIN LATERAL (VALUES (moved.to_address, moved.amount), (moved.from_address, -moved.amount)) AS side(account, delta)
      WHERE side.account <> ${NOBODY}
      GROUP BY side.account
    ) AS known
  ) AS ranked WHERE ranked.place = 1 OR ranked.receipt <= ${rawSql(ACCOUNTS_MAX)}
) AS summed ON true
LEFT JOIN LATERAL (${hasRanges ? rangedMint(chainId, isSpread) : NO_RANGE}) AS ranged ON true
ORDER BY requested.place`;
}

function rangedMint(chainId: Sql, isSpread: boolean): Sql {
  const place = rawSql(isSpread ? 'AND moved.collection_key = address_key(requested.token_address)' : '');
  return sql`SELECT moved.to_address, moved.block_number FROM nft_transfers AS moved
  WHERE before.block_number IS NULL AND coalesce(newest.from_address = newest.to_address, true) AND address_key(moved.token_address) = address_key(requested.token_address) AND moved.chain_id = ${chainId} ${place}
    AND moved.last_token_id IS NOT NULL AND ${expectedTrue(sql`moved.token_address = requested.token_address`)}
    AND ${expectedTrue(sql`requested.token_id BETWEEN moved.token_id AND moved.last_token_id`)}
  ORDER BY ${placeOrder('moved', 'DESC')} LIMIT 1`;
}
const NO_RANGE = sql`SELECT NULL::bytea AS to_address, NULL::integer AS block_number`;

const COLUMNS = [...PLACE, 'kind', 'from_address', 'to_address', 'amount'];
const BATCHABLE: readonly number[] = [NFT_TRANSFER_KINDS.erc1155Single, NFT_TRANSFER_KINDS.erc1155Batch];
