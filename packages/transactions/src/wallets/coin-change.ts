import type { Chain } from '@chainstead/chains';
import { type Address, isAddress, parseAddress, parseBigQuantity } from '@chainstead/core';
import type { WholeBlock } from '@chainstead/sync';
import { accountRows } from '../stored/account-rows.ts';
import { committedIn } from '../stored/datasets.ts';
import { isDeposit } from '../stored/is-deposit.ts';
import { NO_ROLE, ROLES, type TransactionRow } from '../stored/schema.ts';
import { readUint64, transactionRow } from '../stored/transaction-row.ts';

/** The fields that determine a transaction's value and cost. */
export type PaidTransaction = Pick<
  TransactionRow,
  'type' | 'status' | 'value' | 'gasUsed' | 'gasPrice' | 'l1Fee' | 'blobGasUsed' | 'blobGasPrice'
>;

const WEI_PER_GWEI = 10n ** 9n;

/**
 * Returns the change of an account's balance by a transaction itself, without internal calls. Wei.
 * @param roles bits of {@link ROLES}
 */
export function coinChange(paid: PaidTransaction, roles: number): bigint {
  if (roles <= NO_ROLE) return 0n;
  const moved = paid.status === 0 ? 0n : BigInt(paid.value);
  const received = (roles & (ROLES.receiver | ROLES.created)) === 0 ? 0n : moved;
  if ((roles & ROLES.sender) === 0 || isDeposit(paid)) return received;
  return received - moved - feesOf(paid);
}

function feesOf({ gasUsed, gasPrice, l1Fee, blobGasUsed, blobGasPrice }: PaidTransaction): bigint {
  const blobs = BigInt(blobGasUsed ?? 0) * BigInt(blobGasPrice ?? 0);
  return readUint64(gasUsed) * BigInt(gasPrice) + BigInt(l1Fee ?? 0) + blobs;
}

/**
 * Returns the change of an account's balance by the transactions of a block, without internal calls, and by its
 * withdrawals. Wei.
 */
export function coinChangeIn(block: WholeBlock, account: Address, chain: Chain): bigint {
  const changes = committedIn(block, chain).flatMap((one) =>
    accountRows(one, block.header.number, chain)
      .filter((row) => row.account === account)
      .map(({ roles }) => coinChange(transactionRow(one, block.header, chain), roles)),
  );
  return changes.reduce((sum, change) => sum + change, withdrawnIn(block, account));
}

/** Withdrawals (EIP-4895) are not transactions. */
function withdrawnIn({ header: { raw } }: WholeBlock, account: Address): bigint {
  const withdrawals: readonly Readonly<Record<string, unknown>>[] = Array.isArray(raw.withdrawals)
    ? raw.withdrawals
    : [];
  return withdrawals
    .filter(({ address }) => isAddress(address) && parseAddress(address) === account)
    .reduce((sum, { amount }) => sum + parseBigQuantity(amount) * WEI_PER_GWEI, 0n);
}
