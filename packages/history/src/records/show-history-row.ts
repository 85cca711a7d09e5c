import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { showDecodedEvent, showTransaction } from '@chainstead/transactions';
import type { z } from '@hono/zod-openapi';
import { isPossibleSpam } from '../classification/possible-spam.ts';
import type { HistoryPage, HistoryRow } from '../page/get-wallet-history.ts';
import { summarise } from '../summary/summarise.ts';
import { showContractInteractions } from './contract-interactions.ts';
import type { historyRowSchema } from './history-response.ts';
import { showErc20Leg, showNativeLeg, showNftLeg } from './leg-response.ts';

/** What a request wants of each row besides. */
export interface HistoryWishes {
  readonly internalTransactions: boolean;
  readonly nftMetadata: boolean;
  readonly inputData: boolean;
  readonly logs: boolean;
}

/** A row of the answer. */
export function showHistoryRow(
  chain: Chain,
  { block, record, calls, seen, classification }: HistoryRow,
  { beside, booksOf }: Pick<HistoryPage, 'beside' | 'booksOf'>,
  wishes: HistoryWishes,
): z.infer<typeof historyRowSchema> {
  const place = {
    number: block.block_number,
    hash: block.block_hash,
    timestamp: Date.parse(block.block_timestamp) / 1_000,
  };
  const labelOf = (address: string | null) => beside.labelOf((address ?? ZERO_ADDRESS) as Address);
  const { input, logs, ...shown } = showTransaction(
    record,
    place,
    labelOf,
    seen.method,
    wishes.internalTransactions ? calls : undefined,
  );
  const { category, detail, isInferred } = classification;
  const coin = chain.native;
  const context = {
    ...{ wallet: seen.wallet, beside, coin },
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
      tokenOf: (token) => beside.tokenOf(token),
      collectionOf: (token) => beside.collectionOf(token).name,
      labelOf: (address) => beside.labelOf(address).label,
    }),
    possible_spam: isPossibleSpam(seen, (token) => beside.tokenOf(token).isSpam || beside.collectionOf(token).isSpam),
    contract_interactions: showContractInteractions(seen.approvals, beside),
    nft_transfers: seen.nfts.map((leg) => showNftLeg(leg, context, wishes.nftMetadata)),
    erc20_transfers: seen.tokens.map((leg) => showErc20Leg(leg, context)),
    native_transfers: seen.coins.map((leg) => showNativeLeg(leg, context)),
    ...(wishes.logs && {
      logs: logs.map((log) => ({ ...log, decoded_event: showDecodedEvent(log, booksOf) ?? UNDECODED })),
    }),
  };
}

/** Clients read the members of an event whether or not it is known. */
const UNDECODED = { signature: null, label: null, type: 'event' as const, params: [] };
