import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, hexText, type Statement } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { firstInOrderOfBlocks } from '../transfers/page/transfer-place.ts';

/** Which holders of a token are looked for. */
export interface HoldersQuestion {
  readonly token: Address;
  /** Not this one, but those whom it dealt with first. */
  readonly wallet: Address;
  /** No transfers above it are looked at. */
  readonly block: number;
}

/** So many of the newest transfers are looked at. */
const TRANSFERS_MAX = 100;
/** So many holders are told. */
const HOLDERS_MAX = 16;

/**
 * Accounts that may hold something of a token, from indexed transfers: those whom the wallet dealt with, then whoever moved it last. The latter
 * only where the index for it has been built.
 */
export async function knownHolders(
  database: Database,
  chain: Pick<Chain, 'id'>,
  question: HoldersQuestion,
): Promise<readonly Address[]> {
  const read = ({ text, values }: Statement): Promise<HolderRow[]> => database.query<HolderRow>(text, values);
  const partners = await read(partnersStatement(chain, question));
  const found = distinctHolders(partners, question.wallet);
  if (found.length >= HOLDERS_MAX || !(await isIndexedByContract(database))) return found.slice(0, HOLDERS_MAX);
  const rows = [...partners];
  let holders = found;
  for (const piece of piecesDown(question.block)) {
    if (holders.length >= HOLDERS_MAX) break;
    const movers = await read(moversStatement(chain, { token: question.token, ...piece }));
    rows.push(...movers);
    holders = distinctHolders(rows, question.wallet);
    if (movers.length >= 2 * TRANSFERS_MAX) break;
  }
  return holders.slice(0, HOLDERS_MAX);
}

/** Blocks of the first piece; each further one has so many times more. */
const PIECE_BLOCKS = 1_000;
const PIECE_GROWTH = 8;

/** So many blocks at a time, from the newest down: a token that moves often is found in few, one that seldom does has few rows in many. */
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

/** Both inclusive. */
interface BlockPiece {
  readonly fromBlock: number;
  readonly toBlock: number;
}

/** The other sides of the wallet's newest transfers of the token: one range of `erc20_transfers_by_token` in each partition. */
export function partnersStatement(chain: Pick<Chain, 'id'>, { token, wallet, block }: HoldersQuestion): Statement {
  return {
    text: `SELECT ${hexText('counterparty')} AS holder FROM (
  SELECT counterparty FROM erc20_transfers AS transfer
  WHERE account_key = $5 AND chain_id = $1 AND token_key(token) = token_key($2)
    AND ${expectedTrue('account = $6 AND token = $2')} AND block_number <= $3
  ${NEWEST}) AS newest`,
    values: [chain.id, addressBytes(token), block, TRANSFERS_MAX, addressKey(wallet), addressBytes(wallet)],
  };
}

/** Both sides of the token's newest transfers in some blocks: one range of `erc20_transfers_by_contract` in each of their partitions. */
export function moversStatement(
  chain: Pick<Chain, 'id'>,
  { token, fromBlock, toBlock }: BlockPiece & Pick<HoldersQuestion, 'token'>,
): Statement {
  return {
    text: `SELECT ${hexText('holder')} AS holder FROM (
  SELECT account, counterparty FROM erc20_transfers AS transfer
  WHERE chain_id = $1 AND direction <> 1 AND token_key(token) = token_key($2)
    AND ${expectedTrue('token = $2')} AND block_number <= $3 AND block_number >= $5
  ${NEWEST}) AS newest CROSS JOIN LATERAL (VALUES (account), (counterparty)) AS sides(holder)`,
    values: [chain.id, addressBytes(token), toBlock, TRANSFERS_MAX, fromBlock],
  };
}

const NEWEST = firstInOrderOfBlocks('DESC', '$4');

interface HolderRow {
  readonly holder: Address;
}

function distinctHolders(rows: readonly HolderRow[], wallet: Address): Address[] {
  const all = new Set(rows.map(({ holder }) => holder));
  return [...all].filter((holder) => holder !== wallet && holder !== ZERO_ADDRESS);
}

async function isIndexedByContract(database: Database): Promise<boolean> {
  const [row] = await database.query<{ is_there: boolean }>(
    `SELECT to_regclass('erc20_transfers_by_contract') IS NOT NULL AS is_there`,
  );
  return row?.is_there === true;
}
