export { logs } from './contract-logs/dataset.ts';
export { blockHeaders } from './headers/dataset.ts';
export { internalTransfers } from './internal-transfers/dataset.ts';
export { accountTransactions, transactions } from './stored/datasets.ts';
