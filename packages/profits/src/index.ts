/** Realized profit and loss of wallets. */
export { createProfitRoutes } from './profit-routes.ts';
