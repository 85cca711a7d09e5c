import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, asSql, type Database, expectedTrue, hexText, type Sql, sql } from '@chainstead/db';
import { addressKey, IS_GIVING_SIDE } from '@chainstead/db/column-types';
import { stateAt } from '@chainstead/node-reads';
import { StateNotArchivedError } from '@chainstead/node-reads/requests';
import { LOG_ORDER } from '@chainstead/pages';
import type { UpstreamPool } from '@chainstead/rpc';
import { balanceOfCall, readBalance } from '../calls/fetch-balances.ts';
import type { BalanceSlot } from './balance-slot.ts';
import { findBalanceSlot, type Witness } from './find-balance-slot.ts';
import { type BlockOfState, type StateProofs, UnprovableError } from './state-proofs.ts';
import { keepSlot, readStoredSlot } from './stored-slots.ts';

export interface KnownSlot extends BalanceSlot {
  readonly witnesses: number;
  /** Found earlier, at another block. */
  readonly isKept: boolean;
}

interface SearchQuestion {
  readonly token: Address;
  readonly wallet: Address;
  readonly shown: bigint;
}

export type SlotSearch = ReturnType<typeof createSlotSearch>;

interface SlotSearchOptions {
  readonly database: Database;
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly block: BlockOfState;
  readonly proofs: StateProofs;
}

const WITNESSES_MAX = 4;
const WITNESSES_MIN = 2;

/** Null: no known location. @throws as StateProofs.read */
export function createSlotSearch(options: SlotSearchOptions) {
  const { database, chain, block, proofs } = options;

  /** @param kept the fallback if there are too few holders */
  async function anew(
    question: SearchQuestion,
    signal: AbortSignal,
    kept?: KnownSlot,
  ): Promise<KnownSlot | null> {
    const { token, wallet, shown } = question;
    const others = await readWitnesses(options, question, signal);
    const isReported = others.length >= WITNESSES_MIN;
    const witnesses =
      isReported || shown === 0n ? others : distinct([...others, { holder: wallet, balance: shown }]);
    const found = witnesses.length === 0 ? null : await findBalanceSlot(proofs, token, witnesses, signal);
    // If the only balance may be wrong, a failed search reveals nothing about the token.
    if (found === null && !isReported) return kept ?? null;
    const soughtBy = witnesses.map(({ holder }) => holder);
    await keepSlot(database, chain, { token, found, soughtBy, block: block.number });
    return found === null ? null : { ...found, witnesses: found.checkedBy.length, isKept: false };
  }

  return {
    anew,
    async known(question: SearchQuestion, signal: AbortSignal): Promise<KnownSlot | null> {
      const kept = await readStoredSlot(database, chain, question.token);
      if (kept?.location === null && kept.isFresh) return null;
      if (kept !== null && kept.location !== null && kept.witnesses >= WITNESSES_MIN)
        return { ...kept.location, witnesses: kept.witnesses, isKept: true };
      return anew(question, signal);
    },
  };
}

async function readWitnesses(
  { database, chain, pool, block }: SlotSearchOptions,
  { token, wallet }: SearchQuestion,
  signal: AbortSignal,
): Promise<Witness[]> {
  const holders = await knownHolders(database, chain, { token, wallet, block: block.number });
  const calls = holders.map((holder) => ({ to: token, data: balanceOfCall(holder) }));
  try {
    const returned = await stateAt(pool, chain, block).callTogether(calls, signal);
    const witnesses = holders.flatMap((holder, index) => {
      const balance = readBalance(returned[index] ?? null);
      return balance === null || balance === 0n ? [] : [{ holder, balance }];
    });
    return distinct(witnesses);
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    const reason = error instanceof StateNotArchivedError ? 'not-archived' : 'no-proof-from-upstream';
    throw new UnprovableError(reason, error.message, error);
  }
}

function distinct(witnesses: readonly Witness[]): Witness[] {
  const byBalance = new Map(witnesses.map((witness) => [witness.balance, witness]));
  return [...byBalance.values()].toSorted((a, b) => (a.balance < b.balance ? 1 : -1)).slice(0, WITNESSES_MAX);
}

interface HoldersQuestion {
  readonly token: Address;
  readonly wallet: Address;
  readonly block: number;
}

const TRANSFERS_MAX = 100;
const HOLDERS_MAX = 16;

/** The wallet's counterparties, then, if indexed, the last accounts that moved the token. */
export async function knownHolders(
  database: Database,
  chain: Pick<Chain, 'id'>,
  question: HoldersQuestion,
): Promise<readonly Address[]> {
  const { token, wallet, block } = question;
  const holders = new Set<Address>();
  const add = (rows: readonly { readonly holder: Address }[]): void => {
    for (const { holder } of rows) if (holder !== wallet && holder !== ZERO_ADDRESS) holders.add(holder);
  };
  add(await database.query<{ holder: Address }>(partnersStatement(chain, question)));
  if (holders.size < HOLDERS_MAX && (await isIndexedByContract(database)))
    for (const piece of piecesDown(block)) {
      const movers = await database.query<{ holder: Address }>(moversStatement(chain, { token, ...piece }));
      add(movers);
      if (holders.size >= HOLDERS_MAX || movers.length >= 2 * TRANSFERS_MAX) break;
    }
  return [...holders].slice(0, HOLDERS_MAX);
}

/** Blocks of the first range; each further one is larger by the factor below. */
const PIECE_BLOCKS = 1_000;
const PIECE_GROWTH = 8;

/** Newest first: a token that moves often is found in few blocks. */
export function piecesDown(block: number): readonly BlockPiece[] {
  const pieces: BlockPiece[] = [];
  let size = PIECE_BLOCKS;
  for (let toBlock = block; toBlock >= 0; size *= PIECE_GROWTH) {
    const fromBlock = Math.max(0, toBlock - size + 1);
    pieces.push({ fromBlock, toBlock });
    toBlock = fromBlock - 1;
  }
  return pieces;
}

interface BlockPiece {
  readonly fromBlock: number;
  readonly toBlock: number;
}

/** One range of `erc20_transfer_sides_by_token` per partition. */
export function partnersStatement({ id }: Pick<Chain, 'id'>, { token, wallet, block }: HoldersQuestion): Sql {
  const bytes = sql`${addressBytes(token)}::bytea`;
  return sql`SELECT ${hexText('counterparty')} AS holder FROM (
  SELECT counterparty FROM erc20_transfer_sides AS transfer
  WHERE account_key = ${addressKey(wallet)} AND chain_id = ${id} AND token_key(token) = token_key(${bytes})
    AND ${expectedTrue(sql`account = ${addressBytes(wallet)} AND token = ${bytes}`)} AND block_number <= ${block}
  ${NEWEST}) AS newest`;
}

/** One range of `erc20_transfer_sides_by_contract` per partition. */
export function moversStatement(
  { id }: Pick<Chain, 'id'>,
  { token, fromBlock, toBlock }: BlockPiece & Pick<HoldersQuestion, 'token'>,
): Sql {
  const bytes = sql`${addressBytes(token)}::bytea`;
  return sql`SELECT ${hexText('holder')} AS holder FROM (
  SELECT account, counterparty FROM erc20_transfer_sides AS transfer
  WHERE chain_id = ${id} AND ${asSql(IS_GIVING_SIDE)} AND token_key(token) = token_key(${bytes})
    AND ${expectedTrue(sql`token = ${bytes}`)} AND block_number <= ${toBlock} AND block_number >= ${fromBlock}
  ${NEWEST}) AS newest CROSS JOIN LATERAL (VALUES (account), (counterparty)) AS sides(holder)`;
}

const NEWEST = sql`${LOG_ORDER.byBlock('DESC', 'transfer.')} LIMIT ${TRANSFERS_MAX}`;

async function isIndexedByContract(database: Database): Promise<boolean> {
  const [row] = await database.query<{ exists: boolean }>(
    sql`SELECT to_regclass('erc20_transfer_sides_by_contract') IS NOT NULL AS exists`,
  );
  return row?.exists === true;
}
