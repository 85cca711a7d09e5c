/** For tests of other packages: NFT trades as the sync engine would write them, and trades and transfers as earlier versions did. */
export { createFormerTrades, moveTradesBack } from '../trades/testing/former-table.ts';
export { seedTrades } from '../trades/testing/seeded-trades.ts';
export { createFormerTransfers, moveTransfersBack } from '../transfers/testing/former-table.ts';
export { keepAllWallets, keptHoldings } from '../transfers/testing/keep-wallets.ts';
