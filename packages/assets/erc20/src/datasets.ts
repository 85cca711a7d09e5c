export { erc20Approvals } from './approvals/dataset.ts';
export { erc20Transfers } from './transfers/dataset.ts';
export { wrappedCoinMoves } from './wrapped/dataset.ts';
