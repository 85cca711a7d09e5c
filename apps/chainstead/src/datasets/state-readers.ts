import {
  allowancesReader,
  balancesNow,
  balancesProven,
  balancesThen,
  holdersCounted,
  ownersNow,
  tokenCodes,
} from '@chainstead/erc20';
import { poolLookupsReader } from '@chainstead/markets';
import { tradeFiguresReader } from '@chainstead/markets/requests';
import { nftAmountsNow, nftOwnersNow } from '@chainstead/nft';
import {
  accountCodesReader,
  hashPlacesReader,
  nativeBalancesReader,
  type StateReader,
  transactionFactsReader,
} from '@chainstead/node-reads';
import { priceEvidenceReader } from '@chainstead/prices';
import { topGainersReader, walletProfitsReader } from '@chainstead/prices/profits';
import { tokenCreationReader, tokenFactsReader } from '@chainstead/tokens';
import { feedReadingsReader } from '@chainstead/tokens/price-feeds';
import {
  blockAtTimeReader,
  blockReader,
  implementationsReader,
  internalTransactionsReader,
  transactionInputsReader,
  transactionLogsReader,
  transactionReader,
} from '@chainstead/transactions';
import { insightReader, walletTransactionsReader } from '@chainstead/transactions/history';

export const stateReaders: readonly StateReader[] = [
  nativeBalancesReader,
  accountCodesReader,
  transactionFactsReader,
  hashPlacesReader,
  tokenFactsReader,
  tokenCreationReader,
  allowancesReader,
  balancesNow,
  balancesThen,
  balancesProven,
  tokenCodes,
  poolLookupsReader,
  feedReadingsReader,
  priceEvidenceReader,
  ownersNow,
  holdersCounted,
  nftOwnersNow,
  nftAmountsNow,
  transactionReader,
  blockReader,
  blockAtTimeReader,
  internalTransactionsReader,
  transactionInputsReader,
  transactionLogsReader,
  walletTransactionsReader,
  implementationsReader,
  insightReader,
  walletProfitsReader,
  topGainersReader,
  tradeFiguresReader,
];
