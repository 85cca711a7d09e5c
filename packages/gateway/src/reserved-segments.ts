/**
 * First segments of paths that are the API's own, now or in the provider's other APIs: no chain can be offered under one
 * of them. A test holds the routes against this list.
 */
export const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
  'accounts',
  'api',
  'balances',
  'beacon',
  'blocks',
  'chain',
  'coins',
  'collections',
  'console',
  'dashboard',
  'docs',
  'health',
  'historical-jobs',
  'historicaljobs',
  'history',
  'info',
  'metrics',
  'nfts',
  'openapi',
  'ready',
  'settings',
  'stats',
  'streams',
  'supportedmethods',
  'synced',
  'transactions',
  'wallets',
]);
