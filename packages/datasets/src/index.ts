/**
 * The datasets: what Chainstead makes of blocks, each a folder with its table, decoder, query, route and tests.
 * Start reading at registry.ts, then erc20-transfers/dataset.ts.
 */
export { type Direction, type Erc20TransferRow, erc20Transfers } from './erc20-transfers/dataset.ts';
export { walletTokenTransfersRoute } from './erc20-transfers/wallet-token-transfers-route.ts';
export { datasets } from './registry.ts';
