/**
 * First path segments that belong to the API, now or in the hosted API's other products: no chain may use one of them.
 * A test compares the routes with this list.
 */
export const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
  ...[
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
  ],
  ...[
    'graphql',
    'health',
    'historical-jobs',
    'historicaljobs',
    'history',
    'info',
    'metrics',
    'nfts',
    'openapi',
    'ready',
  ],
  ...['settings', 'stats', 'streams', 'supportedmethods', 'synced', 'transactions', 'wallets'],
]);
