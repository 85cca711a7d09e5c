import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '../../docs');

/** The pages by task. `scripts/check/dead-links.test.ts` compares the list with `docs`. */
export const sidebar = [
  group('Get started', [
    'start/demo',
    'start/first-chain',
    'start/first-webhook',
    'start/own-contract',
    'start/production',
    'start/analysts',
  ]),
  group('Migrate', ['migrate', 'migrate/sdk', 'migrate/differences']),
  group('Concepts', [
    'concepts/overview',
    'concepts/coverage-and-proof',
    'concepts/on-demand',
    'concepts/balances',
    'concepts/nft-transfers',
    'concepts/swaps-and-pools',
    'concepts/prices',
    'concepts/price-rules',
    'concepts/price-proofs',
    'concepts/contracts',
    'concepts/state-reads',
    'concepts/reorgs-and-finality',
    'concepts/data-kept',
    'concepts/glossary',
  ]),
  group('Use the API', [
    'api/index',
    'api/endpoints',
    'api/wallets',
    'api/tokens',
    'api/swaps',
    'api/prices',
    'api/market-statistics',
    'api/token-search-and-analytics',
    'api/profits',
    'api/contracts',
    'api/nfts',
    'api/transactions',
    'api/blocks',
    'api/names',
    'api/aptos',
    'api/json-rpc',
    'api/trades-and-prices',
    'api/marketplaces',
    'api/collections',
    'api/spam',
    'api/graphql',
    'api/agents',
    'api/agent-skill',
  ]),
  group('Streams', ['api/streams', 'api/streams-matching', 'api/webhooks-verify', 'api/streams-reference']),
  group('SQL', ['api/sql', 'api/sql-examples']),
  group('Operate', [
    'operate/install',
    'operate/monitor',
    'operate/alerts',
    'operate/runbook',
    'operate/troubleshooting',
    'operate/nodes',
    'operate/history',
    'operate/export',
    'operate/replicate',
    'operate/lists-and-abis',
    'operate/console',
    'operate/security',
    'operate/backup',
    'operate/upgrade',
    'operate/postgres',
    'operate/standbys',
    'operate/sizing-and-cost',
    'operate/scale',
    'operate/citus',
  ]),
  group('Reference', [
    'reference/settings',
    'reference/cli',
    'reference/errors',
    'reference/metrics',
    'reference/proofs',
  ]),
  group('Internals', [
    'internals/architecture',
    'internals/invariants',
    'internals/decisions',
    'internals/recipes',
    'internals/storage-layouts',
    'internals/due-work',
    'internals/benchmarks',
  ]),
  group('Project', ['../CONTRIBUTING', '../CHANGELOG', '../SECURITY']),
];

interface SidebarGroup {
  readonly text: string;
  readonly collapsed: boolean;
  readonly items: { readonly text: string; readonly link: string }[];
}

function group(text: string, pages: readonly string[]): SidebarGroup {
  return { text, collapsed: true, items: pages.map((page) => ({ text: titleOf(page), link: linkOf(page) })) };
}

/** The first heading of a page. */
function titleOf(page: string): string {
  return /^# (.*)$/m.exec(readFileSync(join(DOCS, `${page}.md`), 'utf8'))?.[1] ?? page;
}

function linkOf(page: string): string {
  return `/${page.replace(/^\.\.\//, '').replace(/(^|\/)index$/, '$1')}`;
}
