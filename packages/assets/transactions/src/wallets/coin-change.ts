import type { Chain } from '@chainstead/chains';
import { isDeposit } from '@chainstead/chains/fees';
import { type Address, isAddress, parseAddress, parseBigQuantity } from '@chainstead/core';
import type { WholeBlock } from '@chainstead/sync/datasets';
import { accountRows } from '../stored/account-rows.ts';
import { committedIn } from '../stored/datasets.ts';
import { NO_ROLE, ROLES, type TransactionRow } from '../stored/schema.ts';
import { readUint64, transactionRow } from '../stored/transaction-row.ts';

export type PaidTransaction = Pick<
  TransactionRow,
  'type' | 'status' | 'value' | 'gasUsed' | 'gasPrice' | 'l1Fee' | 'blobGasUsed' | 'blobGasPrice'
>;

const WEI_PER_GWEI = 10n ** 9n;

/** Wei, without internal calls. `roles`: {@link ROLES}. */
export function coinChange(paid: PaidTransaction, roles: number, { id }: Pick<Chain, 'id'>): bigint {
  if (roles <= NO_ROLE) return 0n;
  const moved = paid.status === 0 ? 0n : BigInt(paid.value);
  const received = (roles & (ROLES.receiver | ROLES.created)) === 0 ? 0n : moved;
  if ((roles & ROLES.sender) === 0 || isDeposit(paid.type, id)) return received;
  if ((roles & ROLES.sponsored) !== 0) return received - moved;
  const { gasUsed, gasPrice, l1Fee, blobGasUsed, blobGasPrice } = paid;
  const fees = readUint64(gasUsed) * BigInt(gasPrice) + BigInt(l1Fee ?? 0);
  return received - moved - fees - BigInt(blobGasUsed ?? 0) * BigInt(blobGasPrice ?? 0);
}

/** Wei, without internal calls, with withdrawals. */
export function coinChangeIn(block: WholeBlock, account: Address, chain: Chain): bigint {
  const changes = committedIn(block, chain).flatMap((transaction) =>
    accountRows(transaction, block.header.number, chain)
      .filter((row) => row.account === account)
      .map(({ roles }) => coinChange(transactionRow(transaction, block.header, chain), roles, chain)),
  );
  return changes.reduce((sum, change) => sum + change, withdrawnIn(block, account));
}

function withdrawnIn({ header: { raw } }: WholeBlock, account: Address): bigint {
  const withdrawals: readonly Readonly<Record<string, unknown>>[] = Array.isArray(raw.withdrawals)
    ? raw.withdrawals
    : [];
  return withdrawals
    .filter(({ address }) => isAddress(address) && parseAddress(address) === account)
    .reduce((sum, { amount }) => sum + parseBigQuantity(amount) * WEI_PER_GWEI, 0n);
}
