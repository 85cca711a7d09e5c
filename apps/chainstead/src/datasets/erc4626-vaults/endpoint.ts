import type { DatasetEndpoint } from '../manifest/dataset-manifest.ts';

export const walletVaults: DatasetEndpoint = {
  dataset: 'erc4626-vaults',
  path: '/api/v2.2/wallets/{address}/vaults',
  operationId: 'getWalletVaults',
  summary: 'List ERC-4626 deposits and withdrawals by wallet',
  example: { address: 'account' },
};
