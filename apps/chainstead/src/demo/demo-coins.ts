import { createAptosLedger } from './aptos/aptos-ledger.ts';
import { serveLedger } from './aptos/serve-ledger.ts';
import { createDemoLedger, type DemoLedger } from './demo-ledger.ts';
import type { ListeningServer } from './network/loopback-server.ts';

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
