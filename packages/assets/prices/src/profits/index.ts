export { createProfitRoutes } from './profit-routes.ts';
export { topGainersReader, walletProfitsReader } from './summed-profits.ts';
export { readSwapVolume } from './swap-volume.ts';
