/** First path segments of the API and of the hosted API's other products. A test compares the routes with them. */
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
