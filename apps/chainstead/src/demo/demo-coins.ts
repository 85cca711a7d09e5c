import { createServer } from 'node:http';
import { type AptosLedger, createAptosLedger } from './aptos/aptos-ledger.ts';
import { createDemoLedger, type DemoLedger } from './demo-ledger.ts';
import { type ListeningServer, listenOnLoopback } from './network/loopback-server.ts';

export interface DemoCoins extends Omit<DemoLedger, 'transactions'> {
  readonly fullnode: ListeningServer;
  readonly lastVersion: number;
}

const VERSIONS_BETWEEN = 23;

export async function startDemoCoins(): Promise<DemoCoins> {
  const { transactions, ...facts } = createDemoLedger();
  const ledger = createAptosLedger({ transactions, place: { from: 5, every: VERSIONS_BETWEEN } });
  return { ...facts, fullnode: await serveLedger(ledger), lastVersion: ledger.head };
}

const PAGE_MAX = 100;
const HEAD_TIMESTAMP = '1665609980299882';

function serveLedger(ledger: AptosLedger): Promise<ListeningServer> {
  const server = createServer((request, response) => {
    const body = bodyOf(ledger, new URL(request.url ?? '/', 'http://fullnode'));
    response.writeHead(body === null ? 404 : 200, {
      'content-type': 'application/json',
      'x-aptos-chain-id': String(ledger.chainId),
      'x-aptos-ledger-version': String(ledger.head),
      'x-aptos-ledger-oldest-version': '0',
    });
    response.end(body ?? JSON.stringify({ message: 'not found', error_code: 'web_framework_error' }));
  });
  return listenOnLoopback(server, 0);
}

function bodyOf(
  { chainId, head, transaction, blockOf }: AptosLedger,
  { pathname, searchParams }: URL,
): string | null {
  const path = pathname.replace(/\/+$/, '');
  if (path === '/v1')
    return JSON.stringify({
      chain_id: chainId,
      epoch: '1',
      ledger_version: String(head),
      oldest_ledger_version: '0',
      ledger_timestamp: HEAD_TIMESTAMP,
      node_role: 'full_node',
      oldest_block_height: '0',
      block_height: String(blockOf(head).height),
      git_hash: '',
    });
  const version = Number(/^\/v1\/blocks\/by_version\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
  if (version <= head) {
    const { height, first, last } = blockOf(version);
    return JSON.stringify({
      block_height: String(height),
      block_hash: '0x00',
      block_timestamp: HEAD_TIMESTAMP,
      first_version: String(first),
      last_version: String(last),
      transactions: null,
    });
  }
  if (path !== '/v1/transactions') return null;
  const start = Number(searchParams.get('start') ?? head);
  const limit = Math.min(Number(searchParams.get('limit') ?? PAGE_MAX), PAGE_MAX, Math.max(0, head - start + 1));
  return `[${Array.from({ length: limit }, (_, index) => transaction(start + index).toString('utf8')).join()}]`;
}
