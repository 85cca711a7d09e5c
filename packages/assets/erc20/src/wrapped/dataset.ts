import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { type Sql, sql } from '@chainstead/db';
import {
  decodeErc20Transfer,
  type Erc20Transfer,
  TRANSFER_TOPIC,
  topicOf,
} from '@chainstead/events/token-events';
import { decodeWrappedCoinMove, WRAPPED_COIN_DEPOSIT, WRAPPED_COIN_WITHDRAWAL } from '@chainstead/events/topics';
import { type CoveredSubject, subjectCoverage } from '@chainstead/pages';
import type { Dataset, DecodeContext } from '@chainstead/sync/datasets';
import type { Erc20TransferRow } from '../transfers/schema.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { addSides } from '../transfers/transfer-sides.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { wrappedCoinMovesTable } from './row-table.ts';

/** Elsewhere, the wrapped native token's contract is read each time. */
export const WRAPPED_COIN_MOVES = 'wrapped-coin-moves';

/**
 * `wrappedNative` emits no Transfer for them. If a contract emits both, they are only in
 * `erc20-transfers`, so this reads transfers, too.
 */
export const wrappedCoinMoves: Dataset<Erc20TransferRow> = {
  name: WRAPPED_COIN_MOVES,
  topics: ({ wrappedNative }) => (wrappedNative === null ? [] : TOPICS),
  emitters: ({ wrappedNative }) => (wrappedNative === null ? [] : [wrappedNative]),
  table: wrappedCoinMovesTable,
  decode,
  contracts: ([row]) => (row === undefined ? [] : [{ address: row.token, standard: 'erc20' }]),
  projections: [erc20WalletTokens, erc20TokenHolders],
  histories: {
    ofWallet: ({ wrappedNative }, wallet) =>
      wrappedNative === null
        ? []
        : [
            { topics: TOPICS, indexed: [[topicOf(wallet)]], addresses: [wrappedNative] },
            { topics: [TRANSFER_TOPIC], indexed: [null, [topicOf(wallet)]], addresses: [wrappedNative] },
          ],
    ofContract: ({ wrappedNative }, contract) =>
      contract === wrappedNative ? [{ topics: TOPICS, addresses: [contract] }] : [],
    mayBeCut: true,
  },
};

const TOPICS: readonly Hash[] = [WRAPPED_COIN_DEPOSIT.topic, WRAPPED_COIN_WITHDRAWAL.topic, TRANSFER_TOPIC];

function decode(logs: readonly Log[], { chain }: DecodeContext): Erc20TransferRow[] {
  const ofCoin = logs.filter(({ address }) => address === chain.wrappedNative);
  const reported = countReported(ofCoin, chain);
  const rows: Erc20TransferRow[] = [];
  for (const log of ofCoin) {
    const moved = toTransfer(log);
    if (moved === null) continue;
    const key = keyOf(log, moved);
    const left = reported.get(key) ?? 0;
    if (left > 0) reported.set(key, left - 1);
    else addSides(rows, log, chain.id, moved);
  }
  return rows;
}

function toTransfer(log: Log): Erc20Transfer | null {
  const moved = decodeWrappedCoinMove(log);
  if (moved === null) return null;
  const { kind, account, value } = moved;
  return kind === 'deposit'
    ? { from: ZERO_ADDRESS, to: account, value }
    : { from: account, to: ZERO_ADDRESS, value };
}

/** Mints and burns with a Transfer: each stands for one deposit or withdrawal of the same value. */
function countReported(ofCoin: readonly Log[], chain: DecodeContext['chain']): Map<string, number> {
  const reported = new Map<string, number>();
  for (const log of ofCoin) {
    const transfer = decodeErc20Transfer(log, chain);
    if (transfer === null || (transfer.from !== ZERO_ADDRESS && transfer.to !== ZERO_ADDRESS)) continue;
    const key = keyOf(log, transfer);
    reported.set(key, (reported.get(key) ?? 0) + 1);
  }
  return reported;
}

function keyOf({ blockNumber, transactionIndex }: Log, { from, to, value }: Erc20Transfer): string {
  return `${blockNumber} ${transactionIndex} ${from} ${to} ${value}`;
}

type CoinSubject = Omit<CoveredSubject, 'states'>;

/** CTE `coin_covered`: start of the blocks with both datasets. Empty: their ends differ. */
export function coinCoverage(subject: CoinSubject): Sql {
  return sql`${coverageOfMoves(subject)}, coin_covered AS MATERIALIZED (
  SELECT moves.indexed_from FROM coin_moves_covered AS moves JOIN covered ON covered.indexed_to = moves.indexed_to
)`;
}

export const COIN_COVERED_FROM = sql`(SELECT indexed_from FROM coin_covered)`;

/**
 * For the wrapped native token, `covered` has the blocks with both datasets. `is_counted` is false
 * if their ranges end at different blocks.
 */
export function coverageOfToken(
  { wrappedNative }: Pick<Chain, 'wrappedNative'>,
  token: Address,
  subject: CoinSubject,
): Sql {
  return token === wrappedNative ? coverageOfCoin(subject) : subjectCoverage(subject);
}

function coverageOfCoin(subject: CoinSubject): Sql {
  return sql`${subjectCoverage(subject, 'transfers_')}, ${coverageOfMoves(subject)}, covered AS MATERIALIZED (
  SELECT CASE WHEN moves.indexed_to IS NOT NULL THEN greatest(transfers.indexed_from, moves.indexed_from) END AS indexed_from,
    moves.indexed_to, transfers.chain_to, moves.indexed_to IS NOT NULL AS is_counted
  FROM transfers_covered AS transfers LEFT JOIN coin_moves_covered AS moves ON moves.indexed_to = transfers.indexed_to
)`;
}

function coverageOfMoves(subject: CoinSubject): Sql {
  return subjectCoverage({ ...subject, dataset: WRAPPED_COIN_MOVES }, 'coin_moves_');
}
