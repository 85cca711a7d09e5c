/** The datasets alone: a process that only fills them loads no routes and starts in two thirds of the time. */
export { erc20Approvals } from './approvals/dataset.ts';
export { erc20Transfers } from './transfers/dataset.ts';
export { wrappedCoinMoves } from './wrapped/dataset.ts';
