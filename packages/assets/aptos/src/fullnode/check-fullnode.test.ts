import type { CheckReport } from '@chainstead/core';
import { type AptosFaultSettings, createAptosLedger, startAptosFullnode } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { checkFullnode, type FullnodeCheckOptions } from './check-fullnode.ts';

const LEDGER = createAptosLedger({ transactions: [], head: 5_000 });

async function serve(faults: Partial<AptosFaultSettings> = {}, ledger = LEDGER): Promise<string> {
  const fullnode = await startAptosFullnode(ledger, { faults });
  onTestFinished(() => fullnode.close());
  return fullnode.url;
}

function examine(url: string, more: Partial<FullnodeCheckOptions> = {}): Promise<CheckReport> {
  return checkFullnode({ network: 'mainnet', url, apiKey: null, deadlineMs: 30_000, ...more });
}

test('a fullnode that serves everything is good', async () => {
  const [url, other] = [await serve(), await serve()];
  const report = await examine(url, { others: [url, other] });
  expect(report.findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
  expect(report.findings.map(({ subject }) => subject)).toEqual([
    'chain id',
    'ledger version',
    'oldest version',
    'same ledger',
    'latency',
    'versions a second',
  ]);
  expect(report.findings[3]?.found).toBe(`as ${other} at 4000`);
  expect(report.calls).toBeLessThan(40);
});

test('a fullnode of another network is bad, and asked nothing more', async () => {
  const report = await examine(await serve({ chainId: 2 }));
  expect(report.findings).toMatchObject([
    { subject: 'chain id', verdict: 'bad', found: '2 (aptos-testnet), not 1 (aptos)' },
  ]);
  expect(report.calls).toBe(1);
});

test('a fullnode that threw old versions away says which', async () => {
  const report = await examine(await serve({ oldest: 3_000 }));
  expect(report.findings).toContainEqual(
    expect.objectContaining({
      subject: 'oldest version',
      verdict: 'warning',
      found: expect.stringContaining('3000'),
    }),
  );
});

test('a fullnode that is away, or throttles, is told without what its URL holds', async () => {
  const url = new URL(await serve({ throttleRate: 1 }));
  url.pathname = '/secret-key-0123456789';
  const throttled = await examine(url.href);
  expect(throttled.findings).toMatchObject([{ subject: 'limits', verdict: 'warning' }]);
  const away = await examine('http://127.0.0.1:9/secret-key-0123456789');
  expect(away.findings).toMatchObject([{ subject: 'connection', verdict: 'bad' }]);
  expect(JSON.stringify([throttled, away])).not.toContain('secret-key');
});
