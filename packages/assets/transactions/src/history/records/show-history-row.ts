import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { z } from '@hono/zod-openapi';
import { showDecodedEvent } from '../../records/decoded-response.ts';
import { showTransaction } from '../../records/transaction-response.ts';
import { isPossibleSpam } from '../classification/possible-spam.ts';
import type { ClassifiedTransaction, HistoryPage } from '../page/get-wallet-history.ts';
import { summarise } from '../summary/summarise.ts';
import { showErc20Leg, showNativeLeg, showNftLeg } from './asset-movement-response.ts';
import { showContractInteractions } from './contract-interactions.ts';
import type { historyRowSchema } from './history-response.ts';

export interface HistoryWishes {
  readonly internalTransactions: boolean;
  readonly nftMetadata: boolean;
  readonly inputData: boolean;
  readonly logs: boolean;
}

export function showHistoryRow(
  chain: Chain,
  { block, record, calls, seen, classification }: ClassifiedTransaction,
  { related, booksOf }: Pick<HistoryPage, 'related' | 'booksOf'>,
  wishes: HistoryWishes,
): z.infer<typeof historyRowSchema> {
  const place = {
    number: block.block_number,
    hash: block.block_hash,
    timestamp: Date.parse(block.block_timestamp) / 1_000,
  };
  const labelOf = (address: string | null) => related.labelOf((address ?? ZERO_ADDRESS) as Address);
  const shownCalls = wishes.internalTransactions ? calls : undefined;
  const { input, logs, ...shown } = showTransaction(record, place, labelOf, seen.method, shownCalls);
  const { category, detail, isInferred } = classification;
  const coin = chain.native;
  const { tokenOf, collectionOf } = related;
  const context = {
    ...{ wallet: seen.wallet, related, coin },
    timestamp: shown.block_timestamp,
    transactionIndex: record.index,
    value: record.value,
  };
  return {
    ...shown,
    ...(wishes.inputData && { input }),
    category,
    ...(detail !== null && { category_detail: detail }),
    ...(isInferred && { category_inferred: true as const }),
    summary: summarise(seen, category, seen.approvals, {
      coin,
      tokenOf,
      collectionOf: (token) => collectionOf(token).name,
      labelOf: (address) => related.labelOf(address).label,
    }),
    possible_spam: isPossibleSpam(
      seen,
      (token) => tokenOf(token).possibleSpam || collectionOf(token).possibleSpam,
    ),
    contract_interactions: showContractInteractions(seen.approvals, related),
    nft_transfers: seen.nfts.map((leg) => showNftLeg(leg, context, wishes.nftMetadata)),
    erc20_transfers: seen.tokens.map((leg) => showErc20Leg(leg, context)),
    native_transfers: seen.coins.map((leg) => showNativeLeg(leg, context)),
    ...(wishes.logs && {
      logs: logs.map((log) => ({ ...log, decoded_event: showDecodedEvent(log, booksOf) ?? UNDECODED })),
    }),
  };
}

const UNDECODED = { signature: null, label: null, type: 'event' as const, params: [] };
